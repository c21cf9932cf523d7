/** The table of package measure: what is known of each metric. warn and bad are in SI units; without them it is judged by its past; of is what a
 *  share is a share of. */
export const table: {
  name: string, label: string, group: string, better: 'low' | 'high' | '', warn?: number, bad?: number,
  draw: '' | 'smoke' | 'bars' | 'line' | 'steps', loss?: string, of?: string,
}[];

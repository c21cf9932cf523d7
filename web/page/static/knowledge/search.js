// The search of the knowledge base: which entries have all words of a query, the best first. Pure.

/** How much a word counts where it stands: in the name of an entry more than anywhere in its text. */
const worth = { whole: 40, title: 12, text: 2 };

/** @param {string} text */
const plain = (text) => text.toLowerCase().replace(/[-_/]/g, ' ');

/**
 * The entries that have every word of a query somewhere, the best first; of an empty one, all in their order.
 * @param {KnowledgeEntry[]} entries
 * @param {string} query
 */
export function search(entries, query) {
  const words = plain(query).split(/\s+/).filter(Boolean);
  if (!words.length) return entries;
  return entries
    .map((entry) => ({ entry, score: score(entry, words) }))
    .filter((e) => e.score > 0)
    .sort((a, b) => b.score - a.score)
    .map((e) => e.entry);
}

/** @param {KnowledgeEntry} entry @param {string[]} words */
function score(entry, words) {
  const [id, title, also] = [plain(entry.id), plain(entry.title), (entry.also ?? []).map(plain)];
  const text = plain([entry.text, entry.shows, entry.cure].join(' '));
  const asked = words.join(' ');
  let sum = asked === id || asked === title ? 2 * worth.whole : also.includes(asked) ? worth.whole : 0;
  for (const word of words) {
    const here = at(id, word, worth.title) + at(title, word, worth.title) + at(also.join(' '), word, worth.title) + at(text, word, worth.text);
    if (!here) return 0;
    sum += here;
  }
  return sum + (entry.kind === 'finding' || entry.kind === 'term' ? 1 : 0); // what a word means, before where it happens
}

/** A word that begins where a word of the text does counts in full. @param {string} text @param {string} word @param {number} full */
function at(text, word, full) {
  const i = text.indexOf(word);
  return i < 0 ? 0 : (' ' + text).includes(' ' + word) ? full : full / 2;
}

/**
 * The entries that one names, then those that name it.
 * @param {KnowledgeEntry[]} entries
 * @param {KnowledgeEntry} of
 */
export function related(entries, of) {
  const named = of.see.flatMap((id) => entries.find((e) => e.id === id) ?? []);
  return [...new Set([...named, ...entries.filter((e) => e.see.includes(of.id))])].filter((e) => e.id !== of.id);
}

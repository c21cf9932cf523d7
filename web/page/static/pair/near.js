// What is far down a page is asked for when it comes near: most who open the page never go there.
import { html, useEffect, useRef, useState } from '../html.js';

const before = '400px'; // a moment of scrolling

/**
 * @param {{title: string, wanted?: boolean, children?: any}} props title: its heading, which is there before; what is in it is not begun before;
 *   wanted: who opens the page comes for this, so that it is scrolled to
 */
export function Near({ title, wanted = false, children }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [near, come] = useState(false);
  useEffect(() => {
    const see = new IntersectionObserver((seen) => seen.some((s) => s.isIntersecting) && come(true), { rootMargin: before });
    if (box.current) see.observe(box.current);
    return () => see.disconnect();
  }, []);
  useEffect(() => {
    if (wanted) box.current?.scrollIntoView();
  }, []);
  return near ? children : html`<section class="later" ref=${box}><h2>${title}</h2></section>`;
}

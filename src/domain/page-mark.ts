/**
 * The mark of every page: two keys, and what both agree on. Drawn in place, since the pages load
 * nothing; its colours are those of the page's style.
 */
const BOTH = 'M12 6.37a6.5 6.5 0 0 1 0 11.26a6.5 6.5 0 0 1 0-11.26z'
const MARK = `<svg viewBox="0 0 24 24" aria-hidden="true"><path class="both" d="${BOTH}"/><circle cx="8.75" cy="12" r="6.5"/><circle cx="15.25" cy="12" r="6.5"/></svg>`

/** @param href where it leads to; null: nowhere */
export function wordmark(href: string | null): string {
  const inside = `${MARK}Countersign`
  return href === null
    ? `<span class="wordmark">${inside}</span>`
    : `<a class="wordmark" href="${href}">${inside}</a>`
}

/** In the middle between light and dark: tabs of browsers are either. */
const ICON_COLOUR = '#6b80f2'
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 3 24 18" fill="none" stroke="${ICON_COLOUR}" stroke-width="2"><path fill="${ICON_COLOUR}" stroke="none" d="${BOTH}"/><circle cx="8.75" cy="12" r="6.5"/><circle cx="15.25" cy="12" r="6.5"/></svg>`

/** Part of the page itself; a policy has to let in images by `data:`, and no others. */
export const FAVICON_LINK = `<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">`

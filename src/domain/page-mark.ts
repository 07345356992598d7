/**
 * The mark of every page: two keys and their intersection. It is inline because the pages load
 * nothing; its colours come from the page's style.
 */
const BOTH = 'M12 6.37a6.5 6.5 0 0 1 0 11.26a6.5 6.5 0 0 1 0-11.26z'
const MARK = `<svg viewBox="0 0 24 24" aria-hidden="true"><path class="both" d="${BOTH}"/><circle cx="8.75" cy="12" r="6.5"/><circle cx="15.25" cy="12" r="6.5"/></svg>`

/** @param href the target of the link; null for no link */
export function wordmark(href: string | null): string {
  const inside = `${MARK}Countersign`
  return href === null
    ? `<span class="wordmark">${inside}</span>`
    : `<a class="wordmark" href="${href}">${inside}</a>`
}

/** Midway between light and dark, because browser tabs are either. */
const ICON_COLOUR = '#6b80f2'
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 3 24 18" fill="none" stroke="${ICON_COLOUR}" stroke-width="2"><path fill="${ICON_COLOUR}" stroke="none" d="${BOTH}"/><circle cx="8.75" cy="12" r="6.5"/><circle cx="15.25" cy="12" r="6.5"/></svg>`

/** Inlined in the page; a policy has to permit images by `data:`, and no others. */
export const FAVICON_LINK = `<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">`

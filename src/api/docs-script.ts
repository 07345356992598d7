/**
 * What the pages do where scripts run: copy buttons, and the search of the reference. Without them
 * everything is there to be read. It is sent as its own source, so that it is typed and linted: it
 * may use nothing but what is inside of it.
 */
function enhance(): void {
  const COPIED_MS = 1_500

  for (const button of document.querySelectorAll<HTMLButtonElement>('.code > button')) {
    const text = button.nextElementSibling?.textContent ?? ''
    button.hidden = false
    button.addEventListener('click', () => {
      // Browsers have no clipboard on pages that came without TLS from another machine.
      if (navigator.clipboard === undefined) {
        const { nextElementSibling: shown } = button
        if (shown !== null) getSelection()?.selectAllChildren(shown)
        return
      }
      void navigator.clipboard.writeText(text).then(() => {
        button.textContent = 'Copied'
        setTimeout(() => {
          button.textContent = 'Copy'
        }, COPIED_MS)
      })
    })
  }

  const menu = document.querySelector<HTMLDetailsElement>('nav details')
  if (menu !== null && matchMedia('(max-width:50rem)').matches) menu.open = false

  const search = document.querySelector<HTMLInputElement>('#search')
  if (search === null) return
  const sections = [...document.querySelectorAll<HTMLElement>('main section[id]')].map(
    (section) => ({
      section,
      link: document.querySelector<HTMLElement>(`nav a[href="#${section.id}"]`),
      text: (section.textContent ?? '').toLowerCase(),
    }),
  )
  const found = document.querySelector<HTMLElement>('#found')
  search.hidden = false
  search.addEventListener('input', () => {
    if (menu !== null) menu.open = true
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
    let count = 0
    for (const { section, link, text } of sections) {
      const isFound = words.every((word) => text.includes(word))
      section.hidden = !isFound
      if (link !== null) link.hidden = !isFound
      if (isFound) count++
    }
    if (found !== null) found.textContent = words.length === 0 ? '' : `${count} found`
  })
}

export const DOCS_SCRIPT = `(${enhance.toString()})()`

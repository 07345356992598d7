import { escapeHtml } from '../domain/escape-html.js'

/** Pieces that the pages of the documentation share. */

/** Plain text with `code` in it. */
export function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

/** Paragraphs of such text, separated by empty lines. */
export function prose(text: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('')
}

/** Text to be copied; a script shows the button, which is hidden without scripts. */
export function codeBlock(text: string): string {
  return `<div class="code"><button type="button" hidden>Copy</button><pre tabindex="0">${escapeHtml(text)}</pre></div>`
}

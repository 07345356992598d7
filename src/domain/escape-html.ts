import { MISLEADING } from './printable.js'

const marks = new RegExp(`[${MISLEADING}]`, 'g')

/** For text and for quoted attributes. What would show a line as another one is left out. */
export function escapeHtml(text: string): string {
  return text.replace(marks, '').replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

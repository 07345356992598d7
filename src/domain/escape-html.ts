import { MISLEADING } from './printable.js'

const marks = new RegExp(`[${MISLEADING}]`, 'g')

/**
 * Escapes text for elements and quoted attributes, and removes characters that would make a line
 * look like another.
 */
export function escapeHtml(text: string): string {
  return text.replace(marks, '').replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

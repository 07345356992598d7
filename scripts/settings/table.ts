import { type Reader, VARIABLES, type Variable } from '../../src/config/variables.js'

/**
 * Writes every setting into OPERATIONS.md as Markdown lists between two marks, one list for each
 * set of readers.
 */

const BEGIN = '<!-- settings: `node scripts/run.mjs settings/write` writes these lists -->'
const END = '<!-- end of settings -->'
const SHORT: Readonly<Record<Reader, string>> = {
  service: 'S',
  'identity provider': 'U',
  'quorum signer': 'Q',
  'command line': 'CLI',
}

/** @throws Error for a document without the marks */
export function withSettings(document: string): string {
  const begin = document.indexOf(BEGIN)
  const end = document.indexOf(END)
  if (begin < 0 || end < begin) throw new Error('the marks of the settings are missing')
  return `${document.slice(0, begin)}${BEGIN}\n\n${settingsLists()}\n${document.slice(end)}`
}

function settingsLists(): string {
  const groups = new Map<string, Variable[]>()
  for (const variable of VARIABLES) {
    const readers = variable.readers.map((reader) => SHORT[reader]).join(', ')
    groups.set(readers, [...(groups.get(readers) ?? []), variable])
  }
  return [...groups]
    .map(([readers, variables]) => `Read by ${readers}:\n\n${variables.map(lineOf).join('')}`)
    .join('\n')
}

function lineOf({ name, usual, meaning }: Variable): string {
  if (usual === null) return `- \`${name}\`: ${meaning}\n`
  const fallback = typeof usual === 'string' ? `\`${usual}\`` : usual.computed
  return `- \`${name}\` (${fallback}): ${meaning}\n`
}

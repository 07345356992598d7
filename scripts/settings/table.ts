import { type Reader, VARIABLES, type Variable } from '../../src/config/variables.js'

/** The table of settings in OPERATIONS.md, as Markdown between two marks. */

const BEGIN = '<!-- settings: `npm run docs:settings` writes this table -->'
const END = '<!-- end of settings -->'
const HEADINGS = ['variable', 'read by', 'unless set', 'meaning']
const SHORT: Readonly<Record<Reader, string>> = {
  service: 'S',
  'identity provider': 'U',
  'quorum signer': 'Q',
  'command line': 'CLI',
}

/** @throws Error for a document without its marks */
export function withSettings(document: string): string {
  const begin = document.indexOf(BEGIN)
  const end = document.indexOf(END)
  if (begin < 0 || end < begin) throw new Error('the marks of the table of settings are gone')
  return `${document.slice(0, begin)}${BEGIN}\n\n${settingsTable()}\n${document.slice(end)}`
}

function settingsTable(): string {
  const rows = [HEADINGS, ...VARIABLES.map(rowOf)]
  const widths = HEADINGS.map((_, column) =>
    Math.max(...rows.map((row) => [...(row[column] ?? '')].length)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`
  const [headings = [], ...body] = rows
  return [headings, widths.map((width) => '-'.repeat(width)), ...body].map(line).join('')
}

function rowOf({ name, readers, usual, meaning }: Variable): string[] {
  return [
    `\`${name}\``,
    readers.map((reader) => SHORT[reader]).join(', '),
    usual === null ? '' : typeof usual === 'string' ? `\`${usual}\`` : usual.computed,
    meaning,
  ]
}

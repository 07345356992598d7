import type { AuditEntry } from './audit-entry.js'

export type ExportFormat = 'csv' | 'json'

/**
 * The file is built in the tab's memory, about 60 MB of it. Older entries need a narrower export.
 */
export const EXPORT_ENTRIES_MAX = 100_000

export interface AuditPage {
  readonly records: readonly AuditEntry[]
  readonly next_cursor: string | null
}
export interface Exported {
  readonly file: Blob
  readonly entries: number
  /** False if there are more entries than an export may have. */
  readonly isWhole: boolean
}

/**
 * Reads the trail page by page, newest first; each page becomes text at once.
 * @throws the error of a refused page, or the signal's reason
 */
export async function exportAudit(
  readPage: (cursor: string | null) => Promise<AuditPage>,
  format: ExportFormat,
  onProgress: (entries: number) => void,
  signal: AbortSignal,
): Promise<Exported> {
  const parts: string[] = [format === 'csv' ? `${CSV_FIELDS.join(',')}\r\n` : '[']
  let entries = 0
  let cursor: string | null = null
  do {
    signal.throwIfAborted()
    const page: AuditPage = await readPage(cursor)
    const records = page.records.slice(0, EXPORT_ENTRIES_MAX - entries)
    if (records.length > 0) {
      parts.push(format === 'csv' ? csvOf(records) : jsonOf(records, entries === 0))
    }
    entries += records.length
    cursor = page.next_cursor
    onProgress(entries)
  } while (cursor !== null && entries < EXPORT_ENTRIES_MAX)
  if (format === 'json') parts.push('\n]\n')
  const type = format === 'csv' ? 'text/csv' : 'application/json'
  return { file: new Blob(parts, { type }), entries, isWhole: cursor === null }
}

function jsonOf(records: readonly AuditEntry[], isFirst: boolean): string {
  const text = records.map((record) => JSON.stringify(record)).join(',\n')
  return `${isFirst ? '\n' : ',\n'}${text}`
}

const CSV_FIELDS = [
  ...(['audit_id', 'at', 'type', 'sub_wallet_id', 'key_id'] as const),
  ...(['request_id', 'tx_id', 'message', 'details'] as const),
] as const

/** RFC 4180; details are JSON in one field. */
function csvOf(records: readonly AuditEntry[]): string {
  const lines = records.map((record) =>
    CSV_FIELDS.map((field) => {
      const value = record[field]
      const isJson = typeof value === 'object' && value !== null
      return csvField(isJson ? JSON.stringify(value).replaceAll(';', '\\u003b') : value)
    }).join(','),
  )
  return `${lines.join('\r\n')}\r\n`
}

/**
 * A spreadsheet treats text that begins with one of these as a formula, and anybody can choose
 * names, so an apostrophe makes it text. Where commas are decimal points, cells also begin after
 * semicolons, even within quotes.
 */
const FORMULA = /(^|;)(?=[=+\-@\t\r\n])/g

function csvField(value: string | null): string {
  if (value === null) return ''
  const text = value.replace(FORMULA, "$1'")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

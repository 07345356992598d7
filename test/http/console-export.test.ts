import { expect, test } from 'vitest'
import type { AuditEntry } from '../../src/console/audit/audit-entry.js'
import {
  type AuditPage,
  EXPORT_ENTRIES_MAX,
  exportAudit,
} from '../../src/console/audit/export-audit.js'

/** The audit trail as a file that the console makes. */

const open = new AbortController().signal

function entry(n: number, own: Partial<AuditEntry> = {}): AuditEntry {
  return {
    audit_id: `aud_${n}`,
    at: '2026-01-01T00:00:00.000Z',
    type: 'send.refused',
    ...{ sub_wallet_id: null, key_id: null, request_id: null, tx_id: null, message: null },
    details: {},
    ...own,
  }
}

/** Pages of two, each naming the next by its number. */
function pagesOf(all: readonly AuditEntry[]) {
  return async (cursor: string | null): Promise<AuditPage> => {
    const at = Number(cursor ?? 0)
    const next_cursor = at + 2 < all.length ? String(at + 2) : null
    return { records: all.slice(at, at + 2), next_cursor }
  }
}

test('a file has every entry of every page once, and says so while it is made', async () => {
  const all = [entry(1), entry(2), entry(3)]
  const progress: number[] = []
  const made = await exportAudit(pagesOf(all), 'json', (entries) => progress.push(entries), open)
  expect(JSON.parse(await made.file.text())).toEqual(all)
  expect(made).toMatchObject({ entries: 3, isWhole: true })
  expect(progress).toEqual([2, 3])
  const none = await exportAudit(pagesOf([]), 'json', () => undefined, open)
  expect(JSON.parse(await none.file.text())).toEqual([])
})

test('a spreadsheet takes no name for a formula, and no comma, quote or line for its own', async () => {
  const hostile = ['=HYPERLINK("x")', '+1', '-1', '@x', '\tx', 'a,"b"\r\nc']
  const all = hostile.map((message, n) => entry(n, { message, details: { a: '=1', b: ',' } }))
  const { file } = await exportAudit(pagesOf(all), 'csv', () => undefined, open)
  const text = await file.text()
  expect(text.split('\r\n')[0]).toBe(
    'audit_id,at,type,sub_wallet_id,key_id,request_id,tx_id,message,details',
  )
  const details = '"{""a"":""=1"",""b"":"",""}"'
  const row = (n: number, message: string) =>
    `aud_${n},2026-01-01T00:00:00.000Z,send.refused,,,,,${message},${details}\r\n`
  const [formula, plus, minus, at, tab, broken] = [
    ...[`"'=HYPERLINK(""x"")"`, `'+1`, `'-1`, `'@x`, `'\tx`, `"a,""b""\r\nc"`],
  ]
  const messages = [formula, plus, minus, at, tab, broken]
  expect(text.slice(text.indexOf('\r\n') + 2)).toBe(
    messages.map((message, n) => row(n, String(message))).join(''),
  )
})

test('no cell begins within a field where semicolons part cells, and details stay what they are', async () => {
  const details = { name: 'a;=HYPERLINK("x")', note: '";@y' }
  const all = [entry(1, { message: 'kept; a;=1', details })]
  const { file } = await exportAudit(pagesOf(all), 'csv', () => undefined, open)
  const row = String((await file.text()).split('\r\n')[1])
  expect(row.split(';').filter((cell) => /^[=+\-@]/.test(cell))).toEqual([])
  expect(row).toContain(`kept; a;'=1,`)
  const field = row.slice(row.indexOf('"{') + 1, -1).replaceAll('""', '"')
  expect(JSON.parse(field)).toEqual(details)
})

test('an export ends at its bound and says that there is more, or when nobody waits for it', async () => {
  const page = Array.from({ length: 999 }, (_, n) => entry(n))
  const endless = async () => ({ records: page, next_cursor: 'more' })
  const made = await exportAudit(endless, 'csv', () => undefined, open)
  expect(made).toMatchObject({ entries: EXPORT_ENTRIES_MAX, isWhole: false })
  const closing = new AbortController()
  const aborted = exportAudit(endless, 'csv', () => closing.abort(), closing.signal)
  await expect(aborted).rejects.toThrow(/abort/i)
})

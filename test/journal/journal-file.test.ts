import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readJournalFile } from '../../src/config/journal.js'

const directory = mkdtempSync(join(tmpdir(), 'cs-journal-file-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function fileWith(text: string): string {
  const path = join(directory, 'journal.json')
  writeFileSync(path, text)
  return path
}

test('the file names the servers of the journal', () => {
  const urls = ['postgres://s:secret@one/journal', 'postgresql://s:secret@two/journal']
  expect(readJournalFile(fileWith(JSON.stringify({ postgres: urls })))).toEqual({ postgres: urls })
})

test.each([
  ['{"postgres": ["mysql://s:secret@one/journal"]}', 'postgres.0'],
  [
    '{"postgres": ["postgres://s:secret@one/journal?sslmode=require&options=-c%20synchronous_commit%3Doff"]}',
    'no options',
  ],
  ['{"postgres": []}', 'postgres'],
  ['{"postgre": ["postgres://s:secret@one/journal"]}', 'the file'],
  ['{"postgres": "postgres://s:secret@one/journal"', 'not JSON'],
])('%s is refused, and its password is not repeated', (text, named) => {
  let message = ''
  try {
    readJournalFile(fileWith(text))
  } catch (error) {
    message = String(error)
  }
  expect(message).toContain(named)
  expect(message).not.toContain('secret')
})

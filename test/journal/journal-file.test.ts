import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { cellsOf, readJournalFile } from '../../src/config/journal.js'
import { ONE_CELL } from '../../src/domain/cells.js'

const directory = mkdtempSync(join(tmpdir(), 'cs-journal-file-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function fileWith(text: string): string {
  const path = join(directory, 'journal.json')
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

test('the file names the servers of the journal', () => {
  const urls = ['postgres://s:secret@one/journal', 'postgresql://s:secret@two/journal']
  expect(readJournalFile(fileWith(JSON.stringify({ postgres: urls })))).toEqual({ postgres: urls })
})

test('the file names the nodes of a cluster of Restate, and by default a handler on this machine', () => {
  const ingresses = ['http://10.0.0.1:8080', 'https://two:8443/']
  const key = 'ab'.repeat(32)
  expect(readJournalFile(fileWith(JSON.stringify({ restate: { ingresses, key } })))).toEqual({
    restate: {
      ...{ ingresses, key },
      handler: { host: '127.0.0.1', port: 9080, identity_keys: [] },
    },
  })
})

const SERVERS = '"postgres": ["postgres://s:secret@one/journal"]'

test('the file names the cells that users are dealt out to, and which of them the node is of', () => {
  const read = readJournalFile(
    fileWith(`{${SERVERS}, "cells": ["0-11", "12,14-23,13"], "cell": 1}`),
  )
  expect(cellsOf(read)).toEqual({
    own: { number: 1, partitions: 0xfff000 },
    all: [
      { number: 0, partitions: 0xfff },
      { number: 1, partitions: 0xfff000 },
    ],
  })
  const one = readJournalFile(fileWith(`{${SERVERS}, "cells": ["0-23"], "cell": 0}`))
  expect(cellsOf(one)).toEqual({ own: ONE_CELL, all: [ONE_CELL] })
  expect(cellsOf(readJournalFile(fileWith(`{${SERVERS}}`)))).toEqual(cellsOf(one))
})

const SECRET_KEY = `"key": "${'5ec4e7'.repeat(10)}5ec4"`

test.each([
  [
    `{"restate": {"ingresses": ["http://one"], ${SECRET_KEY}}, "postgres": ["postgres://one/x"]}`,
    'one engine',
  ],
  ['{}', 'one engine'],
  [
    `{"restate": {"ingresses": ["http://u:secret@one:8080"], ${SECRET_KEY}}}`,
    'restate.ingresses.0',
  ],
  [`{"restate": {"ingresses": [], ${SECRET_KEY}}}`, 'restate.ingresses'],
  ['{"restate": {"ingresses": ["http://one:8080"], "key": "5ec4e7"}}', 'restate.key'],
  [
    `{"restate": {"ingresses": ["http://one:8080"], ${SECRET_KEY}, "handler": {"host": "10.0.0.1"}}}`,
    'identity_keys',
  ],
  ['{"postgres": ["mysql://s:secret@one/journal"]}', 'postgres.0'],
  [
    '{"postgres": ["postgres://s:secret@one/journal?sslmode=require&options=-c%20synchronous_commit%3Doff"]}',
    'no options',
  ],
  ['{"postgres": []}', 'postgres'],
  [`{${SERVERS}, "cells": ["0-11", "11-23"], "cell": 0}`, 'cells: have each partition'],
  [`{${SERVERS}, "cells": ["0-23", "0"], "cell": 0}`, 'cells: have each partition'],
  [`{${SERVERS}, "cells": ["0-11", "13-23"], "cell": 0}`, 'cells: have each partition'],
  [`{${SERVERS}, "cells": ["0-11", "12-24"], "cell": 0}`, 'cells.1: lists partitions'],
  [`{${SERVERS}, "cells": ["0-11", ""], "cell": 0}`, 'cells.1: lists partitions'],
  [`{${SERVERS}, "cells": ["0-11,3", "12-23"], "cell": 0}`, 'cells.0: lists partitions'],
  [`{${SERVERS}, "cells": [], "cell": 0}`, 'cells'],
  [`{${SERVERS}, "cells": ["0-11", "12-23"]}`, 'cell: is one of cells'],
  [`{${SERVERS}, "cells": ["0-11", "12-23"], "cell": 2}`, 'cell: is one of cells'],
  [`{${SERVERS}, "cells": ["0-11", "12-23"], "cell": -1}`, 'cell'],
  [`{${SERVERS}, "cells": ["0-11", "12-23"], "cell": 24}`, 'cell'],
  [`{${SERVERS}, "cells": ["0-11", "12-23"], "cell": "1"}`, 'cell'],
  [`{${SERVERS}, "cell": 0}`, 'cell: is one of cells'],
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
  expect(message).not.toContain('5ec4e7')
})

test.each([0o644, 0o640, 0o602])(
  'a file of mode %o, with its passwords, is refused unread',
  (mode) => {
    const path = fileWith('{"postgres": ["postgres://s:secret@one/journal"]}')
    chmodSync(path, mode)
    expect(() => readJournalFile(path)).toThrow(`${path} must have mode 0600`)
    chmodSync(path, 0o600)
    expect(readJournalFile(path).postgres).toHaveLength(1)
  },
)

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runProgram } from '../../src/cli/program.js'
import { applyRows } from '../../src/store/apply-rows.js'
import { openEnvironment } from '../../src/store/environment.js'
import { NO_POSITION } from '../../src/store/follow-journal.js'
import { positionRow } from '../../src/store/journal-position.js'
import { freePort } from '../support/ports.js'

test('cluster status says how far a home is where its journal is lost', async () => {
  const home = mkdtempSync(join(tmpdir(), 'cs-status-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const environment = openEnvironment(join(home, 'service', 'store'))
  const position = { ...NO_POSITION, storeId: 'a', hasBase: true, seq: 7, epoch: 2 }
  await applyRows(environment, [positionRow(position)])
  await environment.root.close()
  const file = join(home, 'journal.json')
  const postgres = [`postgres://nobody@127.0.0.1:${await freePort()}/none`]
  writeFileSync(file, JSON.stringify({ postgres }), { mode: 0o600 })
  let [out, err] = ['', '']
  const io = {
    env: { COUNTERSIGN_HOME: home, COUNTERSIGN_JOURNAL_FILE: file },
    isInteractive: false,
    out: (text: string) => {
      out += text
    },
    err: (text: string) => {
      err += text
    },
  }
  expect(await runProgram(io, ['cluster', 'status', '--json'])).toBe(0)
  expect(err).toContain('The journal does not answer')
  expect(JSON.parse(out)).toMatchObject({
    ...{ epoch: null, owner: null, entries: null, taken_over: null },
    ...{ store_entry: 7, store_epoch: 2 },
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLanes } from '../../src/identity-provider/vault/lanes.js'
import {
  type LedgerStore,
  openLedgerStore,
} from '../../src/identity-provider/vault/ledger-store.js'
import { u64 } from '../../src/quorum-protocol/bytes.js'

let home: string
let ledger: LedgerStore

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'countersign-lanes-'))
  ledger = openLedgerStore(home, { length: 0 })
})
afterEach(async () => {
  await ledger.close()
  rmSync(home, { recursive: true, force: true })
})

test('a service that asks for lanes on and on cannot use them up', async () => {
  let nowMs = 0
  const pace = { lanesAtOnce: 16, laneEveryMs: 1_000, elapsedMs: () => nowMs }
  const lanes = createLanes(ledger, pace)
  const askedFor = async (count: number) => {
    const asked = Array.from({ length: count }, () => lanes.next(0))
    const outcomes = await Promise.allSettled(asked)
    return outcomes.filter(({ status }) => status === 'fulfilled').length
  }
  expect(await askedFor(1_000)).toBe(16)
  await expect(lanes.next(0)).rejects.toMatchObject({ code: 'OVERLOADED' })
  nowMs += 3_000
  expect(await askedFor(1_000)).toBe(3)
  nowMs += 3_600_000
  expect(await askedFor(1_000)).toBe(16)
  expect(ledger.lastLane).toBe(35)
})

test('of the starts that announced themselves the latest alone are remembered', async () => {
  const boot = (number: number) => Buffer.concat([Buffer.alloc(8), u64(number)])
  const { flushed } = ledger.commit((writer) => {
    for (let number = 1; number <= 65_540; number++) {
      writer.putBoot(number, { boot: boot(number), leadership: null })
    }
  })
  await flushed
  const known = [1, 4, 5, 65_540].map((number) => ledger.bootNumber(boot(number)))
  expect(known).toEqual([null, null, 5, 65_540])
})

import { afterAll, expect, test } from 'vitest'
import type { Command, Effect } from '../../actors/sub-wallet/core/messages.js'
import { screen } from '../../actors/sub-wallet/effects/screen.js'
import type { SubWalletPorts } from '../../actors/sub-wallet/ports.js'
import { systemTimers } from '../../src/clock/timers.js'
import type { KeyId, SubWalletId } from '../../src/domain/ids.js'
import { fault } from '../../src/errors/fault.js'
import { TARGET, testScreener, USER } from '../screening/fixtures.js'

const screener = testScreener()
afterAll(() => screener.close())

const WALLET = 'wal_1' as SubWalletId
const QUOTED_AT = 100
const ANEW = { ok: false, fault: fault('CHAIN_UNAVAILABLE') } as const

/** What the screening of a call quoted at block 100 says of its value; null where that holds. */
function requoted(headNumber: number | null, simulated: boolean): unknown {
  const head = headNumber === null ? null : { head: { number: headNumber } }
  const ports = {
    screener,
    chains: new Map([[8453, { fees: { latest: () => head } }]]),
    prices: { price: () => ({ value: 1n, decimals: 0, updatedAtMs: 0, source: 'test' }) },
    quoter: { quote: () => ANEW },
    reader: {
      keys: { byId: () => ({ subWalletId: WALLET }) },
      wallets: { byId: () => ({ address: TARGET }) },
    },
    timers: systemTimers(() => 0),
  } as unknown as SubWalletPorts
  const draft = {
    ...{ txId: 'tx_1', keyId: 'key_1' as KeyId },
    call: { chainId: 8453, to: TARGET, value: 0n, data: '0x' },
    basis: { simulated, quotedAtBlock: QUOTED_AT, prices: [], recipients: [] },
  }
  const effect = { type: 'screen', userId: USER, draft, unmined: null, revalues: false }
  const told: Command[] = []
  screen(ports, effect as unknown as Extract<Effect, { type: 'screen' }>, WALLET, (command) =>
    told.push(command),
  )
  const [only] = told
  return only?.type === 'screened' ? only.requoted : 'nothing was told'
}

test('what was simulated is valued again once its block is past, or nobody knows the newest', () => {
  expect(requoted(QUOTED_AT + 1, true)).toBeNull()
  expect(requoted(QUOTED_AT + 2, true)).toBe(ANEW)
  expect(requoted(null, true)).toBe(ANEW)
})

test('a plain transfer stays as it was valued, whatever block it is', () => {
  expect(requoted(QUOTED_AT + 2, false)).toBeNull()
  expect(requoted(null, false)).toBeNull()
})

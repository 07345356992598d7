import { afterAll, describe, expect, it } from 'vitest'
import type { PreparedSend, SendCommand } from '../../actors/sub-wallet/core/messages.js'
import type { SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { prepareSend } from '../../actors/sub-wallet/effects/prepare-send.js'
import type { SubWalletPorts } from '../../actors/sub-wallet/ports.js'
import { systemTimers } from '../../src/clock/timers.js'
import { fault } from '../../src/errors/fault.js'
import type { QuotedCall } from '../../src/valuation/quoter.js'
import { LISTED, TARGET, testScreener, USER } from '../screening/fixtures.js'

const screener = testScreener()
afterAll(() => screener.close())

/** A wallet whose quoter notes what it was asked to value. */
async function prepared(data: `0x${string}`) {
  const valued: QuotedCall[] = []
  const ports = {
    screener,
    reader: { keys: { byId: () => ({ userId: USER }) } },
    quoter: {
      quote(call: QuotedCall) {
        valued.push(call)
        return { ok: false, fault: fault('PRICE_UNAVAILABLE') }
      },
    },
    timers: systemTimers(() => 0),
  } as unknown as SubWalletPorts
  const state = {
    wallet: { address: TARGET },
    lanes: new Map([[8453, { nextNonce: 0 }]]),
    keys: new Map(),
  } as unknown as SubWalletState
  const call = { chainId: 8453, to: TARGET, value: 0n, data }
  const command = { type: 'send', call, idempotency: null }
  const made = await prepareSend(ports, state, command as unknown as SendCommand)
  return { made: made as PreparedSend, valued: valued.map((call) => call.data) }
}

const LONG = 'ff'.repeat(10_000)

describe('calldata that is long', () => {
  it('is screened before it is valued: what is refused is never run on a node', async () => {
    const { made, valued } = await prepared(`0xac9650d8${LONG}`)
    expect(made.screened?.refusal.code).toBe('CALLDATA_UNDECODABLE')
    expect(made.call.data).toBe(`0xac9650d8${LONG}`)
    expect(valued).toEqual(['0x'])
  })

  it('and holds a listed address is refused with the lists that say so', async () => {
    const { made, valued } = await prepared(`0xdeadbeef${LONG}${LISTED.slice(2).toLowerCase()}`)
    expect(made.screened).toMatchObject({
      refusal: { code: 'ADDRESS_BLOCKED' },
      screenedAgainst: [{ list: 'test-list', version: 'v1' }],
    })
    expect(valued).toEqual(['0x'])
  })

  it('is valued as it is when nothing is held against it', async () => {
    const { made, valued } = await prepared(`0xdeadbeef${LONG}`)
    expect(made.screened).toBeUndefined()
    expect(valued).toEqual([`0xdeadbeef${LONG}`])
  })
})

it('short calldata is valued at once and screened after its caps, as ever', async () => {
  const { made, valued } = await prepared(`0xdeadbeef${LISTED.slice(2).toLowerCase()}`)
  expect(made.screened).toBeUndefined()
  expect(valued).toHaveLength(1)
})

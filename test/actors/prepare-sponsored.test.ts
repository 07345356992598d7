import { expect, test } from 'vitest'
import type { SponsorCommand } from '../../actors/sub-wallet/core/sponsored-messages.js'
import type { SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { prepareSponsored } from '../../actors/sub-wallet/effects/prepare-sponsored.js'
import type { SubWalletPorts } from '../../actors/sub-wallet/ports.js'
import { systemTimers } from '../../src/clock/timers.js'
import { NO_SIDE_FEE } from '../../src/domain/transaction-fee.js'

test('a sponsored call whose first request ends while a node is asked is that one again', async () => {
  const records: object[] = []
  const first = { txId: 'tx_1' }
  const account = '0x1111111111111111111111111111111111111111'
  const reads = {
    // By the time at which the node answers, the request that was quicker is over.
    async code() {
      records.push({ txId: 'tx_1', bodyHash: 'a', createdAtMs: 0 })
      return { kind: 'none' }
    },
    transactionCount: async () => 0,
  }
  const fees = { quote: async () => ({ fees: { maxFeePerGas: 1n } }) }
  const gas = { sideFee: () => NO_SIDE_FEE }
  const find = () => ({
    idempotency: { byKey: () => records[0] },
    transactions: { byId: () => first },
  })
  const ports = {
    chains: new Map([[1, { reads, fees, gas }]]),
    reader: { ...find(), fresh: find },
    timers: systemTimers(() => 0),
    log: { warn: () => undefined },
  } as unknown as SubWalletPorts
  const valuation = { valueMicros: 1n, gasMicros: 0n, nativePrice: 1n, nativePriceDecimals: 0 }
  const command = {
    ...{ type: 'sponsor-call', kind: 'swap', chainId: 1, delegate: account, keyId: 'key_1' },
    ...{
      quote: { ok: true, valuation, terms: { ok: false } },
      idempotency: { key: 'once', bodyHash: 'a' },
    },
  } as unknown as SponsorCommand
  const state = {
    wallet: { address: account },
    open: new Map(),
    keys: new Map([['key_1', { lineageId: 'key_1' }]]),
  } as unknown as SubWalletState
  const made = await prepareSponsored(ports, state, command)
  expect(made).toMatchObject({ first: { tx: first } })
})

import { expect, test } from 'vitest'
import type { AccountCommand } from '../../actors/account/core/messages.js'
import { replace } from '../../actors/account/effects/replace.js'
import type { AccountPorts } from '../../actors/account/ports.js'
import type { AccountTransaction } from '../../src/domain/transaction.js'
import type { SignRequest } from '../../src/service-custody/co-signer.js'
import { CHAIN_ID, txIdOf } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'

const txId = txIdOf(1)
const LOW = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n }
const NOW = { maxFeePerGas: 400n, maxPriorityFeePerGas: 10n }

test('a stuck transaction is outbid on a thread on which nobody follows the chain', async () => {
  const signed: SignRequest[] = []
  const chain = {
    config: { id: CHAIN_ID, max_fee_per_gas_ceiling_wei: '1000000' },
    fees: { latest: () => null, quote: async () => ({ fees: NOW }) },
  }
  const ports = {
    chains: new Map([[CHAIN_ID, chain]]),
    timers: new VirtualTimers(0),
    log: { warn: () => undefined },
    coSigner: {
      async sign(request: SignRequest) {
        signed.push(request)
        return { ok: true, intentId: new Uint8Array(32), txHash: '0x02', rawTransaction: '0x03' }
      },
    },
  } as unknown as AccountPorts
  const call = { chainId: CHAIN_ID, to: '0x01', value: 1n, data: '0x' }
  const attempts = [{ ...LOW, intentId: `0x${'01'.repeat(32)}` }]
  const tx = { txId, call, nonce: 7, gasLimit: 21_000n, attempts } as unknown as AccountTransaction
  const bid = await new Promise<AccountCommand>((resolve) => {
    const by = { walletId: 'sw_1', keyId: null, authorization: null, feeCapWei: null }
    replace(ports, { ...by, tx, purpose: 'bump' } as Parameters<typeof replace>[1], resolve)
  })
  expect(bid).toMatchObject({ type: 'replacement-signed', txId, nonce: 7 })
  expect(signed.map(({ payload }) => payload)).toMatchObject([{ maxFeePerGas: 400n }])
})

import { sleep, type Timers } from '../../../src/clock/timers.js'
import { encodeCancel, intentNonceOf } from '../../../src/contracts/router-intent.js'
import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import { gasWalletsFor } from '../../../src/domain/gas-wallets.js'
import { ENTROPY_BYTES, ID_PREFIX, type TxId, ulidBody } from '../../../src/domain/ids.js'
import { amountWithin, type UsdMicros } from '../../../src/domain/money.js'
import { type GasFlow, gasMaxOf } from '../../../src/domain/sponsored-gas.js'
import type { GasJob, JobGas, Sponsorship } from '../../../src/domain/sponsorship.js'
import type { Envelope } from '../../runtime/actor.js'
import type { Command } from '../core/messages.js'
import type { SponsoredEffect } from '../core/sponsored-messages.js'

/** Builds the sub-wallet's job for the gas wallet that its sponsorship names. */

export function submitJob({
  sponsorship,
  account,
}: Extract<SponsoredEffect, { type: 'submit-job' }>): Envelope {
  const { txId, subWalletId, lineageId, chainId, router, calldata, authorization } = sponsorship
  const { kind, gasMicros } = sponsorship
  return ask(sponsorship, {
    ...{ txId, subWalletId, lineageId, chainId, account, router, calldata, authorization },
    ...{ cancels: null, gas: jobGas(sponsorship, kind, gasMicros) },
  })
}

export async function restJob(
  timers: Timers,
  { txId, delayMs }: Extract<SponsoredEffect, { type: 'rest-job' }>,
  self: (command: Command) => void,
): Promise<void> {
  await sleep(timers, delayMs)
  self({ type: 'job-rested', txId })
}

/** Builds the cancellation as a transaction of its own, since the failed one has ended. */
export function cancelIntent(
  timers: Timers,
  { sponsorship, account }: Extract<SponsoredEffect, { type: 'cancel-intent' }>,
): Envelope {
  const { txId, subWalletId, lineageId, chainId, router } = sponsorship
  return ask(sponsorship, {
    txId: (ID_PREFIX.tx + ulidBody(timers.now(), timers.random.bytes(ENTROPY_BYTES))) as TxId,
    ...{ subWalletId, lineageId, chainId, account, router },
    calldata: encodeCancel(account, intentNonceOf(sponsorship.calldata)),
    authorization: null,
    cancels: txId,
    gas: jobGas(sponsorship, 'cancel', sponsorship.cancelMicros ?? 0n),
  })
}

function jobGas({ chainId, valuation }: Sponsorship, flow: GasFlow, micros: UsdMicros): JobGas {
  const { nativePrice, nativePriceDecimals } = valuation
  const heldWei =
    nativePrice === 0n
      ? null
      : amountWithin(micros, NATIVE_DECIMALS, nativePrice, nativePriceDecimals)
  return { gasMax: gasMaxOf(chainId, flow), heldWei, l1FeeWei: 0n }
}

function ask({ gasWalletId, chainId, subWalletId }: Sponsorship, job: GasJob): Envelope {
  const wallets = gasWalletsFor(chainId, subWalletId)
  // A cancellation goes to only one gas wallet: the deadline has the same effect a little later.
  const others = job.cancels === null ? wallets.length - 1 - wallets.indexOf(gasWalletId) : 0
  return {
    kind: 'gas-wallet',
    id: gasWalletId,
    userId: null,
    command: { type: 'sponsor', job, others },
    token: null,
  }
}

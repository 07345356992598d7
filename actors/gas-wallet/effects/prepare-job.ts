import type { GasJob } from '../../../src/domain/sponsorship.js'
import { isFinal } from '../../../src/domain/transaction.js'
import { sideFeeWei } from '../../../src/domain/transaction-fee.js'
import { type Fault, FaultError, fault } from '../../../src/errors/fault.js'
import { laneOf } from '../../account/core/state.js'
import type { JobRefusal } from '../../sub-wallet/core/sponsored-messages.js'
import type { GasWalletCommand, JobQuote, PreparedJob } from '../core/messages.js'
import type { GasWalletState } from '../core/state.js'
import type { GasWalletPorts } from '../ports.js'

/** Adds gas, fees and, at the start, the account's nonce. A known job needs none of them. */
export async function prepareJob(
  ports: GasWalletPorts,
  state: GasWalletState,
  { job, others }: Extract<GasWalletCommand, { type: 'sponsor' }>,
): Promise<PreparedJob> {
  const { account } = state
  const finish = (
    quote: JobQuote,
    chainNonce: number | null,
    past: PreparedJob['past'],
  ): PreparedJob => ({
    type: 'prepared-sponsor',
    job,
    others,
    quote,
    chainNonce,
    past,
    nowMs: ports.timers.now(),
  })
  const unneeded: JobQuote = refusal(fault('INTERNAL'), 'call')
  if (account.open.has(job.txId) || account.drafts.has(job.txId))
    return finish(unneeded, null, 'under-way')
  const found = ports.reader.gas.transaction(job.txId)
  if (found !== undefined) {
    // Reporting its state before the end would look like a reorg that took it back.
    const isEnding = found.gasWalletId === state.gasWalletId && !isFinal(found.tx.status)
    return finish(unneeded, null, isEnding ? 'under-way' : found.tx)
  }
  const [quote, chainNonce] = await Promise.all([
    quoteJob(ports, state, job),
    laneOf(account, state.chainId).nextNonce === null ? nonceOf(ports, state) : null,
  ])
  return finish(quote, chainNonce, null)
}

/** The size of a signed transaction around its calldata, with an authorization. */
const ENVELOPE_BYTES = 256

async function quoteJob(
  { chains, executionGas }: GasWalletPorts,
  { account, chainId }: GasWalletState,
  job: GasJob,
): Promise<JobQuote> {
  const chain = chains.get(chainId)
  const relayer = account.wallet?.address
  if (chain === undefined || relayer === undefined) {
    return refusal(fault('CHAIN_UNAVAILABLE'), 'gas-wallet')
  }
  try {
    const [gas, { fees }, balanceWei, sideFee] = await Promise.all([
      executionGas.estimate(chain, { ...job, relayer }),
      chain.fees.quote(),
      chain.reads.nativeBalance(relayer),
      chain.gas.sideFee(ENVELOPE_BYTES + job.calldata.length / 2),
    ])
    if (gas.ok) {
      const l1FeeWei = sideFeeWei(gas.value, sideFee)
      return { ok: true, gasLimit: gas.value, fees, l1FeeWei, balanceWei }
    }
    // The Router's answer concerns its caller; a chain that does not answer is thrown.
    return refusal(gas.fault, gas.fault.code === 'CHAIN_UNAVAILABLE' ? 'gas-wallet' : 'call')
  } catch (error) {
    if (error instanceof FaultError) return refusal(error.fault, 'call')
    const why = error instanceof Error ? error.message : 'no answer'
    return refusal(fault('CHAIN_UNAVAILABLE', {}, undefined, why), 'call')
  }
}

function refusal(why: Fault, of: JobRefusal['of']): JobQuote {
  return { ok: false, refusal: { fault: why, of } }
}

async function nonceOf(
  { chains, log }: GasWalletPorts,
  { account, chainId }: GasWalletState,
): Promise<number | null> {
  const address = account.wallet?.address
  const chain = chains.get(chainId)
  if (address === undefined || chain === undefined) return null
  try {
    return await chain.reads.transactionCount(address, 'latest')
  } catch (error) {
    log.warn({ err: error, chainId }, 'the nonce of a gas wallet could not be read')
    return null
  }
}

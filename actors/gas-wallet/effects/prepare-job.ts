import type { GasJob } from '../../../src/domain/sponsorship.js'
import { FaultError, fault } from '../../../src/errors/fault.js'
import { laneOf } from '../../sub-wallet/state.js'
import type { JobQuote, PreparedJob } from '../messages.js'
import type { GasWalletPorts } from '../ports.js'
import type { GasWalletState } from '../state.js'

/** Adds gas, fees and, at the start, the account's nonce. A job known already needs none. */
export async function prepareJob(
  ports: GasWalletPorts,
  state: GasWalletState,
  job: GasJob,
): Promise<PreparedJob> {
  const { account } = state
  const finish = (
    quote: JobQuote,
    chainNonce: number | null,
    past: PreparedJob['past'],
  ): PreparedJob => ({
    type: 'prepared-sponsor',
    job,
    quote,
    chainNonce,
    past,
    nowMs: ports.nowMs(),
  })
  const unneeded: JobQuote = { ok: false, fault: fault('INTERNAL') }
  if (account.open.has(job.txId) || account.drafts.has(job.txId))
    return finish(unneeded, null, null)
  const past = ports.reader.gasTransaction(job.txId)?.tx ?? null
  if (past !== null) return finish(unneeded, null, past)
  const [quote, chainNonce] = await Promise.all([
    quoteJob(ports, state, job),
    laneOf(account, state.chainId).nextNonce === null ? nonceOf(ports, state) : null,
  ])
  return finish(quote, chainNonce, null)
}

async function quoteJob(
  { chains, executionGas }: GasWalletPorts,
  { account, chainId }: GasWalletState,
  job: GasJob,
): Promise<JobQuote> {
  const chain = chains.get(chainId)
  const relayer = account.wallet?.address
  if (chain === undefined || relayer === undefined) {
    return { ok: false, fault: fault('CHAIN_UNAVAILABLE') }
  }
  try {
    const [gas, { fees }] = await Promise.all([
      executionGas.estimate(chain, { ...job, relayer }),
      chain.fees.quote(),
    ])
    return gas.ok ? { ok: true, gasLimit: gas.value, fees } : gas
  } catch (error) {
    if (error instanceof FaultError) return { ok: false, fault: error.fault }
    const why = error instanceof Error ? error.message : 'no answer'
    return { ok: false, fault: fault('CHAIN_UNAVAILABLE', {}, undefined, why) }
  }
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

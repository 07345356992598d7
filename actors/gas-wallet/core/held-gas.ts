import type { GasJob, JobGas } from '../../../src/domain/sponsorship.js'
import type { AccountTransaction } from '../../../src/domain/transaction.js'
import { fault } from '../../../src/errors/fault.js'
import type { JobRefusal } from '../../sub-wallet/core/sponsored-messages.js'
import type { JobQuote } from './messages.js'

/**
 * Bounds what a job may cost. The budgets are its sub-wallet's to check: a gas wallet signs no gas
 * limit beyond what the job's flow may take, and no fee at which the whole gas limit costs more
 * than is held.
 */

/**
 * A transaction that takes longer to be mined counts as a jam: it delays all that were signed after
 * it.
 */
export const JAMMED_AFTER_MS = 60_000

type Quoted = Extract<JobQuote, { ok: true }>

/** Returns the job with its cost as it is about to be signed, or why it may not be signed. */
export function jobHeld(
  job: GasJob,
  { gasLimit, fees, l1FeeWei }: Quoted,
): { readonly job: GasJob } | { readonly refusal: JobRefusal } {
  const { gas } = job
  if (gas === undefined) return { job }
  const { gasMax, heldWei } = gas
  if (gasLimit > gasMax) return { refusal: { fault: tooMuchGas(gasLimit, gasMax), of: 'call' } }
  if (heldWei === null) return { job }
  const neededWei = gasLimit * fees.maxFeePerGas + l1FeeWei
  if (neededWei <= heldWei)
    return { job: { ...job, gas: { gasMax, heldWei: neededWei, l1FeeWei } } }
  const why = fault(
    'CHAIN_UNAVAILABLE',
    {},
    'The fees of this chain are rising too fast for a sponsored call; try again in a moment.',
  )
  return { refusal: { fault: why, of: 'call', neededWei: withRoom(neededWei) } }
}

/** Adds an eighth, because fees may rise until the job comes again. */
function withRoom(wei: bigint): bigint {
  return (wei * 9n) / 8n
}

function tooMuchGas(gasLimit: bigint, gasMax: bigint) {
  const gas_needed = gasLimit.toString()
  const gas_max = gasMax.toString()
  return fault(
    'SIMULATION_REVERTED',
    { reason: 'more gas than the service pays for', gas_needed, gas_max },
    `The call would take ${gas_needed} gas, and the service pays for ${gas_max} at most; nothing was sent.`,
  )
}

/**
 * The highest maxFeePerGas, wei, at which the whole gas limit costs no more than is held; null
 * means no limit.
 */
export function feeCapOf(
  { gasLimit }: Pick<AccountTransaction, 'gasLimit'>,
  { heldWei, l1FeeWei }: JobGas,
): bigint | null {
  if (heldWei === null) return null
  return heldWei > l1FeeWei ? (heldWei - l1FeeWei) / gasLimit : 0n
}

/** Pools accept a replacement that offers a tenth more; ours offers an eighth more. */
const BUMP_NUMERATOR = 9n
const BUMP_DENOMINATOR = 8n
/** Leaves room for the base fee to double, as the first fee did. */
const WANTED_FACTOR = 2n

/** The wei to hold for its next replacement; null when enough is held. */
export function wantedWei(
  { gasLimit, attempts }: Pick<AccountTransaction, 'gasLimit' | 'attempts'>,
  { l1FeeWei }: JobGas,
  feeCapWei: bigint | null,
): bigint | null {
  const newest = attempts.at(-1)
  if (feeCapWei === null || newest === undefined) return null
  const leastWei = (newest.maxFeePerGas * BUMP_NUMERATOR) / BUMP_DENOMINATOR + 1n
  if (leastWei <= feeCapWei) return null
  return gasLimit * newest.maxFeePerGas * WANTED_FACTOR + gasLimit + l1FeeWei
}

/**
 * The hold is rounded up to a micro-dollar, so an increase below this ratio, in thousandths, is
 * none.
 */
const MORE_PER_MILLE = 1_010n

/** The job with its present hold; null when the hold is no larger than before. */
export function heldMore(known: GasJob | undefined, { gas }: GasJob): GasJob | null {
  const before = known?.gas
  if (known === undefined || before?.heldWei === undefined || before.heldWei === null) return null
  const heldWei = gas?.heldWei ?? null
  if (heldWei === null || heldWei * 1_000n <= before.heldWei * MORE_PER_MILLE) return null
  return { ...known, gas: { ...before, heldWei } }
}

import type { Receipt } from '../../../src/chains/receipts.js'
import type { Address, Hex } from '../../../src/domain/ids.js'

/** The gas of a bare transfer of native currency, which has no logs. */
const BARE_TRANSFER_GAS = 21_000n
/** `Transfer(address indexed from, address indexed to, uint256 value)` */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const ADDRESS_DIGITS = 40

type Shown = Pick<Receipt, 'status' | 'gasUsed' | 'logs' | 'logsTruncated'>

/** Whether a successful call took no token from its sender, like a transfer that returns false. */
export function isStill(from: Address, { status, gasUsed, logs, logsTruncated }: Shown): boolean {
  if (status !== 'success' || logsTruncated || gasUsed <= BARE_TRANSFER_GAS) return false
  const sender = from.slice(-ADDRESS_DIGITS).toLowerCase()
  return !logs.some(({ topics: [topic, payer] }) => topic === TRANSFER_TOPIC && isOf(payer, sender))
}

function isOf(topic: Hex | undefined, sender: string): boolean {
  return topic?.slice(-ADDRESS_DIGITS).toLowerCase() === sender
}

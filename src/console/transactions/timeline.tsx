import { Id } from '../parts/copy-button.js'
import { At } from '../parts/times.js'
import type { Detail } from './detail.js'

type Step = Detail['timeline'][number]['step']

const STEPS: Readonly<Record<Step, string>> = {
  decided: 'Decided: within its caps and its policy, and screened',
  refused: 'Refused: nothing was signed',
  approval_requested: 'Approval requested',
  approved: 'Approved',
  signed: 'Signed by both keys, and stored',
  broadcast: 'Broadcast: a node has accepted it',
  replaced: 'Replaced: signed again with a higher fee',
  cancel_signed: 'Cancellation signed',
  mined: 'In a block',
  confirmed: 'Confirmed',
  failed: 'Failed on chain',
  dropped: 'Dropped: it can no longer be mined',
  declined: 'Declined',
  expired: 'Expired without a decision',
  withdrawn: 'Withdrawn by its agent',
}

const ENDS: readonly Step[] = ['refused', 'failed', 'dropped', 'declined', 'expired', 'withdrawn']

export function Timeline({ of: steps }: { readonly of: Detail['timeline'] }) {
  return (
    <ol class="timeline">
      {steps.map(({ step, at, tx_hash, block_number }) => (
        <li
          key={`${step} ${at} ${tx_hash}`}
          class={step === 'confirmed' ? 'ok' : ENDS.includes(step) ? 'bad' : undefined}
        >
          <strong>{STEPS[step]}</strong>
          {block_number !== null && <span class="num"> {block_number}</span>}
          <span class="line small mute">
            {at !== null && <At at={at} />}{' '}
            {tx_hash !== null && <Id value={tx_hash} label="Copy the hash" />}
          </span>
        </li>
      ))}
    </ol>
  )
}

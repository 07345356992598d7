import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { call, type Output } from '../api.js'
import { useMay } from '../members/roles.js'
import { AskedToConfirm, type LeftAuthorization, useConfirmed } from '../parts/confirmed-action.js'
import { Id } from '../parts/copy-button.js'
import { formatUnits, formatUsd } from '../parts/money.js'
import { Problem } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { StepDialog } from '../parts/step-dialog.js'
import { Ago, Left } from '../parts/times.js'
import { TransactionLink } from '../parts/transaction-link.js'
import { useAction } from '../use-action.js'
import { movesShown, type ShownMove } from './moves-shown.js'

export type Approval = Output<'GET', '/api/v1/agent/approvals'>['approvals'][number]

const COMMENT_LENGTH_MAX = 500
const WEI_DECIMALS = 18

/**
 * One call that waits, or waited: what it does, which agent made it, its predicted outcome, and the
 * decision.
 */
export function ApprovalCard(shown: { readonly of: Approval; readonly keyName: string }) {
  // Declining moves nothing out of a wallet, so operators may decline as well.
  const [mayApprove, mayRun] = [useMay('approve'), useMay('run')]
  const mayDecline = mayApprove || mayRun
  const { of: approval, keyName } = shown
  const { call: asked } = approval
  return (
    <section class="card key-card" aria-label={`${keyName}, ${approval.rule}`}>
      <header class="card-head">
        <h2>
          {asked.in_words}{' '}
          <span class="mute">
            {formatUsd(approval.spend_usd)}, {asked.operation.replaceAll('_', ' ')}
          </span>
        </h2>
        <StatusPill status={approval.status} />
      </header>
      <dl class="facts">
        <dt>Agent</dt>
        <dd>{approval.key_name ?? keyName}</dd>
        {approval.wallet_name !== null && (
          <>
            <dt>Wallet</dt>
            <dd>{approval.wallet_name}</dd>
          </>
        )}
        <dt>Rule</dt>
        <dd>{approval.rule}</dd>
        <dt>Transaction</dt>
        <dd>
          <TransactionLink txId={approval.tx_id} />
        </dd>
        <dt>To</dt>
        <dd>
          <Address of={asked.to} labels={asked.labels} />
        </dd>
        <CallFacts of={approval} />
        <dt>Asked</dt>
        <dd>
          <Ago at={approval.requested_at} />
        </dd>
        {approval.status === 'pending' && (
          <>
            <dt>Time left</dt>
            <dd>
              <Left until={approval.expires_at} />
            </dd>
          </>
        )}
        {approval.asked_again !== null && (
          <>
            <dt>Asked again</dt>
            <dd>{approval.asked_again.replaceAll('_', ' ')}</dd>
          </>
        )}
        {approval.decisions.map(({ authorizer_id, decision, at, comment }) => (
          <Fragment key={at}>
            <dt>{decision === 'approve' ? 'Approved' : 'Declined'}</dt>
            <dd>
              <Ago at={at} /> {authorizer_id !== null && <span class="mute">{authorizer_id}</span>}
              {comment !== null && <> “{comment}”</>}
            </dd>
          </Fragment>
        ))}
        {approval.status !== 'pending' && (
          <>
            <dt>Call</dt>
            <dd>
              <StatusPill status={approval.tx_status} /> {approval.error?.message}
            </dd>
          </>
        )}
      </dl>
      {approval.status === 'pending' && (
        <div class="actions">
          {mayApprove && <Approve of={approval} />}
          {mayDecline && <Decline of={approval} />}
          {approval.url !== null && (
            <a class="button" href={approval.url} target="_blank" rel="noopener">
              Open its page
            </a>
          )}
        </div>
      )}
    </section>
  )
}

function CallFacts({ of: { call: asked, simulation, max_native_wei } }: { readonly of: Approval }) {
  const { intent } = asked
  const { beneficiaries } = asked.decoded
  const { moves, isAll } = movesShown(asked)
  return (
    <>
      {beneficiaries !== null && beneficiaries.length > 0 && (
        <>
          <dt>Pays</dt>
          <dd>
            {beneficiaries.map((address) => (
              <Address key={address} of={address} labels={asked.labels} />
            ))}
          </dd>
        </>
      )}
      {(moves.length > 0 || !isAll) && (
        <>
          <dt>Moves</dt>
          <dd>
            {moves.map((move) => (
              <span key={move.token} class="line">
                <Moved move={move} />
              </span>
            ))}
            {!isAll && <span class="line">What else, its data does not say.</span>}
          </dd>
        </>
      )}
      {intent !== null && (
        <>
          <dt>For at least</dt>
          <dd>
            {intent.in_units.amount_out_min} <Id value={intent.token_out} label="Copy the token" />
          </dd>
        </>
      )}
      <dt>Outcome</dt>
      <dd>
        {simulation.simulated ? 'Simulated: it succeeds.' : 'Not simulated.'}{' '}
        {intent === null
          ? `Gas costs at most ${formatUnits(max_native_wei, WEI_DECIMALS, WEI_DECIMALS)} native.`
          : 'The service pays the gas.'}
      </dd>
      {asked.data !== '0x' && (
        <>
          <dt>Data</dt>
          <dd>
            <Id value={asked.data} label="Copy the data" />
          </dd>
        </>
      )}
    </>
  )
}

/** Shows the user's label before the address, if there is one. */
function Address(shown: {
  readonly of: string
  readonly labels: Readonly<Record<string, string>>
}) {
  const label = shown.labels[shown.of.toLowerCase()]
  return (
    <>
      {label !== undefined && <strong>{label} </strong>}
      <Id value={shown.of} label="Copy the address" />
    </>
  )
}

/** Shows the amount in units of the token if the service knows them. */
function Moved({ move: { token, amount, symbol, decimals } }: { readonly move: ShownMove }) {
  if (token === 'native') return <>{formatUnits(amount, WEI_DECIMALS, WEI_DECIMALS)} native</>
  return (
    <>
      {symbol === null || decimals === null
        ? `${amount} smallest units of `
        : `${formatUnits(amount, decimals, decimals)} ${symbol} `}
      <Id value={token} label="Copy the token" />
    </>
  )
}

function Approve({ of: approval }: { readonly of: Approval }) {
  const confirmed = useConfirmed(
    (approvalId: string, proof: LeftAuthorization | null) =>
      call('POST', '/api/v1/agent/approvals/:approval_id/approve', {
        approval_id: approvalId,
        ...(proof === null ? {} : { proof }),
      }),
    () => undefined,
  )
  if (confirmed.asked !== null) return <AskedToConfirm asked={confirmed.asked} />
  return (
    <>
      <button
        type="button"
        class="primary"
        disabled={confirmed.isRunning}
        onClick={() => confirmed.run(approval.approval_id)}
      >
        {confirmed.isRunning ? 'Approving…' : 'Approve'}
      </button>
      {confirmed.error !== null && <Problem error={confirmed.error} />}
    </>
  )
}

function Decline({ of: approval }: { readonly of: Approval }) {
  const [isOpen, open] = useState(false)
  const [comment, setComment] = useState('')
  const close = () => open(false)
  const decline = useAction(
    () =>
      call('POST', '/api/v1/agent/approvals/:approval_id/decline', {
        approval_id: approval.approval_id,
        ...(comment.trim() === '' ? {} : { comment: comment.trim() }),
      }),
    close,
  )
  return (
    <>
      <button type="button" onClick={() => open(true)}>
        Decline
      </button>
      {isOpen && (
        <StepDialog
          title="Decline this call?"
          step={decline}
          label="Decline"
          runningLabel="Declining…"
          tone="danger"
          onClose={close}
        >
          <p>Nothing is sent, and its reservation is released.</p>
          <label>
            Why <span class="mute">(optional, the agent is told)</span>
            <input
              maxLength={COMMENT_LENGTH_MAX}
              value={comment}
              onInput={(event) => setComment(event.currentTarget.value)}
            />
          </label>
        </StepDialog>
      )}
    </>
  )
}

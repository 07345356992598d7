import { Id } from '../parts/copy-button.js'
import { formatUnits, formatUsd } from '../parts/money.js'
import { Card } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import type { Detail } from './detail.js'

type Simulation = Detail['simulation']
type Move = Simulation['moves'][number]
type Approval = Simulation['approvals'][number]

/** The predicted outcome as of the decision, or why it is unknown. */
export function Simulated({ of: simulation }: { readonly of: Simulation }) {
  const { basis, note, gas_used, moves, approvals, left_out } = simulation
  if (basis === 'none') {
    return (
      <Card title="Simulation">
        <Empty title={note} />
      </Card>
    )
  }
  return (
    <Card title="Simulation">
      <p class="small">
        {note} {gas_used !== null && `It took ${Number(gas_used).toLocaleString()} units of gas.`}
      </p>
      <ul class="rows">
        {moves.map((move) => (
          <MoveRow key={JSON.stringify(move)} of={move} />
        ))}
        {approvals.map((approval) => (
          <ApprovalRow key={JSON.stringify(approval)} of={approval} />
        ))}
        {moves.length + approvals.length === 0 && <li>Nothing moves, and nothing is approved.</li>}
        {left_out > 0 && <li>And {left_out} more, which are not kept.</li>}
      </ul>
    </Card>
  )
}

function MoveRow({ of: move }: { readonly of: Move }) {
  const isOut = move.way === 'out'
  return (
    <li>
      <span>
        <strong>{isOut ? 'Leaves' : 'Arrives'}</strong> {move.at_least && 'at least '}
        <Amount of={move} />
        <span class="line mute">
          {isOut ? 'to' : 'from'} <Id value={move.party} label="Copy the other side's address" />
        </span>
      </span>
      {(isOut || move.usd !== null) && <Worth usd={move.usd} />}
    </li>
  )
}

function ApprovalRow({ of: approval }: { readonly of: Approval }) {
  return (
    <li>
      <span>
        <strong>Approved</strong> <Amount of={approval} />
        <span class="line mute">
          for <Id value={approval.spender} label="Copy the spender's address" />
        </span>
      </span>
      <Worth usd={approval.usd} />
    </li>
  )
}

const EVERY_UNIT = (2n ** 256n - 1n).toString()

function Amount({
  of: { token, symbol, decimals, token_id, amount },
}: {
  readonly of: Pick<Move, 'token' | 'symbol' | 'decimals' | 'token_id' | 'amount'>
}) {
  const name =
    symbol ?? (token === null ? 'native' : <Id value={token} label="Copy the token's address" />)
  if (amount === 'all') return <>every item of {name}</>
  if (token_id !== null) {
    return (
      <>
        {amount === '1' ? 'item' : `${amount} of item`} {token_id} of {name}
      </>
    )
  }
  if (amount === EVERY_UNIT) return <>any amount of {name}</>
  if (decimals === null) {
    return (
      <>
        {amount} smallest units of {name}
      </>
    )
  }
  return (
    <>
      {formatUnits(amount, decimals, decimals)} {name}
    </>
  )
}

function Worth({ usd }: { readonly usd: string | null }) {
  return <span class="mute">{usd === null ? 'no price' : formatUsd(usd)}</span>
}

import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { call, callWithKey, type Output } from '../api.js'
import { chainName } from '../parts/chain-names.js'
import { Dialog } from '../parts/dialog.js'
import { formatUsd } from '../parts/money.js'
import { Answered, Empty } from '../parts/states.js'
import { QuotedForm, useQuoted } from './quoted.js'

const PATH = '/api/v1/agent/wallets/:sub_wallet_id/positions'
type Position = Output<'GET', typeof PATH>['positions'][number]

/** Read of a chain by its node. */
const POLL_MS = 30_000

/** What a wallet has deposited, on all chains, and the way back out. */
export function Positions(shown: {
  readonly walletId: string
  /** Of a key of this wallet; null: there is none to withdraw with. */
  readonly secret: string | null
}) {
  const { walletId, secret } = shown
  const positions = useQuery({
    queryKey: [PATH, walletId],
    queryFn: () => call('GET', PATH, { sub_wallet_id: walletId }),
    refetchInterval: POLL_MS,
  })
  // Not in its row: that goes when all of it is withdrawn, and what came of it is to be read.
  const [leaving, leave] = useState<Position | null>(null)
  return (
    <>
      <Answered query={positions} what="positions">
        {({ positions }) =>
          positions.length === 0 ? (
            <Empty title="Nothing is deposited" />
          ) : (
            <ul class="rows">
              {positions.map((one) => (
                <li key={`${one.chain_id} ${one.market_id}`}>
                  <span>
                    {one.market_id} <span class="mute">on {chainName(one.chain_id)}</span>
                  </span>
                  <span class="actions">
                    {one.usd_value === null ? 'unpriced' : formatUsd(one.usd_value)}
                    {secret !== null && (
                      <button
                        type="button"
                        aria-label={`Withdraw from ${one.market_id}`}
                        onClick={() => leave(one)}
                      >
                        Withdraw
                      </button>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
      {leaving !== null && secret !== null && (
        <Dialog
          title={`Withdraw from ${leaving.market_id} on ${chainName(leaving.chain_id)}?`}
          onClose={() => leave(null)}
        >
          <WithdrawAll of={leaving} secret={secret} />
        </Dialog>
      )}
    </>
  )
}

function WithdrawAll(shown: { readonly of: Position; readonly secret: string }) {
  const { chain_id, market_id } = shown.of
  const quoted = useQuoted({
    wish: { chain_id, market_id, shares: 'max' },
    quote: (asked) => callWithKey(shown.secret, 'POST', '/api/defi/withdraw/quote', asked),
    go: (asked, wishId) => callWithKey(shown.secret, 'POST', '/api/defi/withdraw', asked, wishId),
  })
  return (
    <QuotedForm
      title="All of it"
      of={quoted}
      isComplete
      outcome={({ amount_out, gas_sponsored }) => (
        <>
          <li>Gives about {amount_out}, the fee taken off.</li>
          <li>{gas_sponsored ? 'The service pays the gas.' : 'This wallet pays the gas.'}</li>
        </>
      )}
      goLabel={({ amount_out }) => `Withdraw ${amount_out}`}
    >
      <p class="small mute">Every share that this wallet has of it.</p>
    </QuotedForm>
  )
}

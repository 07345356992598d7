import { useState } from 'preact/hooks'
import { call, type Output } from '../api.js'
import { chainName } from '../parts/chain-names.js'
import { shortened } from '../parts/copy-button.js'
import { StepDialog } from '../parts/step-dialog.js'
import { useAction } from '../use-action.js'

const PATH = '/api/v1/agent/wallets/:sub_wallet_id/revoke-allowances'
type Skipped = Output<'POST', typeof PATH>['skipped'][number]

/** Ends all allowances of a wallet on one chain, at the cost of a transaction each. */
export function RevokeAllowances(shown: {
  readonly secret: string
  readonly chainId: number
  readonly walletId: string
}) {
  const { secret, chainId, walletId } = shown
  const [isOpen, open] = useState(false)
  const [skipped, setSkipped] = useState<readonly Skipped[]>([])
  const close = () => {
    open(false)
    setSkipped([])
  }
  const revoke = useAction(
    () => {
      const input = { sub_wallet_id: walletId, chain_id: chainId }
      return call('POST', PATH, input, { 'X-Api-Key': secret })
    },
    (answer) => (answer.skipped.length === 0 ? close() : setSkipped(answer.skipped)),
  )
  return (
    <>
      <button type="button" class="danger-quiet more" onClick={() => open(true)}>
        Revoke all
      </button>
      {isOpen && (
        <StepDialog
          title={`Revoke all on ${chainName(chainId)}?`}
          step={revoke}
          label="Revoke all"
          runningLabel="Revoking…"
          tone="danger"
          onClose={close}
        >
          <p>Each revocation is a transaction whose gas this wallet pays.</p>
          {skipped.length > 0 && (
            <div class="problem" role="alert">
              <p>These still stand; the others are being revoked.</p>
              <ul class="small">
                {skipped.map(({ tx_id, token, spender, message }) => (
                  <li key={`${tx_id} ${token} ${spender}`}>
                    <code>{shortened(spender)}</code> {message}
                  </li>
                ))}
              </ul>
            </div>
          )}
        </StepDialog>
      )}
    </>
  )
}

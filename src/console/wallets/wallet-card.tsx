import { useState } from 'preact/hooks'
import { call, type Output } from '../api.js'
import { May } from '../members/may.js'
import { ConfirmedAction } from '../parts/confirmed-action.js'
import { CopyButton } from '../parts/copy-button.js'
import { FreezeButton } from '../parts/freeze-button.js'
import { StatusPill } from '../parts/status-pill.js'
import { Ago } from '../parts/times.js'
import { QrCode } from './qr-code.js'

export type Wallet = Output<'GET', '/api/v1/agent/wallets'>['wallets'][number]

/** One sub-wallet: its address for deposits, and its freezes. */
export function WalletCard({ of: wallet }: { readonly of: Wallet }) {
  const [isReceiving, receive] = useState(false)
  const address = wallet.addresses.evm
  return (
    <section class="card key-card" aria-label={wallet.name}>
      <header class="card-head">
        <h2>{wallet.name}</h2>
        <StatusPill status={wallet.frozen === null ? 'active' : 'frozen'} />
      </header>
      {isReceiving ? (
        <div class="receive">
          <QrCode text={address} label={`QR code of ${address}`} />
          <div>
            <code class="address">{address}</code>
            <CopyButton text={address} label="Copy the address" />
            <p class="small mute">
              The same on all six chains. Do not send anything to it on other chains.
            </p>
          </div>
        </div>
      ) : (
        <p>
          <code class="address">{address}</code>{' '}
          <CopyButton text={address} label="Copy the address" />
        </p>
      )}
      <p class="small mute">
        Made <Ago at={wallet.created_at} />
        {wallet.frozen !== null && (
          <>
            ; frozen <Ago at={wallet.frozen.since} /> by the {wallet.frozen.by}
            {wallet.frozen.reason !== null && `: ${wallet.frozen.reason}`}
          </>
        )}
      </p>
      <div class="actions">
        <button type="button" aria-expanded={isReceiving} onClick={() => receive(!isReceiving)}>
          Receive
        </button>
        {wallet.frozen === null ? (
          <FreezeButton target={{ scope: 'wallet', id: wallet.sub_wallet_id, name: wallet.name }} />
        ) : (
          wallet.frozen.by !== 'operator' && (
            <May power="enlarge">
              <ConfirmedAction
                label="Unfreeze"
                title={`Unfreeze ${wallet.name}?`}
                act={(authorization) =>
                  call('POST', '/api/v1/agent/unfreeze', {
                    scope: 'wallet',
                    id: wallet.sub_wallet_id,
                    ...(authorization === null ? {} : { authorization }),
                  })
                }
              >
                <p>Its keys can send again, within their caps and policies.</p>
              </ConfirmedAction>
            </May>
          )
        )}
      </div>
    </section>
  )
}

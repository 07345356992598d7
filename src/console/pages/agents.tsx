import { useState } from 'preact/hooks'
import { useSearchParams } from 'wouter-preact'
import { CreateKey } from '../keys/create-key.js'
import { KeyCard } from '../keys/key-card.js'
import { May } from '../members/may.js'
import { Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { useKeys, useSpend, useWallets } from '../queries.js'

export function AgentsPage() {
  const keys = useKeys()
  const wallets = useWallets()
  const spend = useSpend()
  const [isCreating, create] = useState(false)
  const [query, setQuery] = useSearchParams()
  const showsRevoked = query.get('revoked') === 'shown'
  const walletNames = new Map(
    wallets.data?.wallets.map(({ sub_wallet_id, name }) => [sub_wallet_id, name]),
  )
  const spendOf = new Map(spend.data?.keys.map((one) => [one.key_id, one]))
  return (
    <Page
      title="Agents & keys"
      actions={
        <May power="enlarge">
          <button type="button" class="primary" onClick={() => create(true)}>
            New key
          </button>
        </May>
      }
    >
      {isCreating && <CreateKey onClose={() => create(false)} />}
      <Answered query={keys} what="keys">
        {({ keys, next_cursor }) => {
          const revoked = keys.filter(({ status }) => status === 'revoked').length
          const shown = keys.filter(({ status }) => showsRevoked || status !== 'revoked')
          return (
            <>
              {shown.length === 0 && (
                <Empty title="No agent has a key yet">
                  <p>A key has a wallet, caps in USD and a policy. Its secret goes to the agent.</p>
                </Empty>
              )}
              <div class="grid">
                {shown.map((key) => (
                  <KeyCard
                    key={key.key_id}
                    of={key}
                    walletName={walletNames.get(key.sub_wallet_id) ?? key.sub_wallet_id}
                    spend={spendOf.get(key.key_id) ?? null}
                  />
                ))}
              </div>
              {next_cursor !== null && (
                <p class="small mute">These are the newest 100 keys; there are more.</p>
              )}
              {revoked > 0 && (
                <button
                  type="button"
                  class="more"
                  onClick={() => setQuery(showsRevoked ? {} : { revoked: 'shown' })}
                >
                  {showsRevoked ? 'Hide revoked keys' : `Show ${revoked} revoked`}
                </button>
              )}
            </>
          )
        }}
      </Answered>
    </Page>
  )
}

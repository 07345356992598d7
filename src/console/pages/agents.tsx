import { useState } from 'preact/hooks'
import { useSearchParams } from 'wouter-preact'
import { CreateKey } from '../keys/create-key.js'
import { KeyCard } from '../keys/key-card.js'
import { May } from '../members/may.js'
import { More } from '../parts/more.js'
import { Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { useKeyPages, useSpendOf, useWallets } from '../queries.js'

export function AgentsPage() {
  const keys = useKeyPages()
  const wallets = useWallets()
  const spend = useSpendOf(cursorsOf(keys.data?.pages ?? []))
  const [isCreating, create] = useState(false)
  const [query, setQuery] = useSearchParams()
  const showsRevoked = query.get('revoked') === 'shown'
  const walletNames = new Map(
    wallets.data?.wallets.map(({ sub_wallet_id, name }) => [sub_wallet_id, name]),
  )
  const spendOf = new Map(
    spend.flatMap(({ data }) => data?.keys ?? []).map((one) => [one.key_id, one]),
  )
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
        {({ pages }) => {
          const all = pages.flatMap((page) => page.keys)
          const revoked = all.filter(({ status }) => status === 'revoked').length
          const shown = all.filter(({ status }) => showsRevoked || status !== 'revoked')
          return (
            <>
              {shown.length === 0 && !keys.hasNextPage && (
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
              <More query={keys} />
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

/** Of what each page began with. */
function cursorsOf(pages: readonly { readonly next_cursor: string | null }[]) {
  return pages.map((_, index) => pages[index - 1]?.next_cursor ?? null)
}

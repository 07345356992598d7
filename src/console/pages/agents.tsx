import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { CreateKey } from '../keys/create-key.js'
import { KeyCard } from '../keys/key-card.js'
import { May } from '../members/may.js'
import { useFilters } from '../parts/filters.js'
import { More } from '../parts/more.js'
import { foundWords, NameSearch } from '../parts/name-search.js'
import { Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { useKeyPages, useSpendOf, useWallets } from '../queries.js'

export function AgentsPage() {
  const filters = useFilters(['search'])
  const search = filters.get('search')
  const keys = useKeyPages(search)
  const wallets = useWallets()
  const spend = useSpendOf(cursorsOf(keys.data?.pages ?? []), search)
  const [isCreating, create] = useState(false)
  const showsRevoked = filters.get('revoked') === 'shown'
  const found = keys.data?.pages.reduce((sum, page) => sum + page.keys.length, 0)
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
      <NameSearch
        value={search ?? ''}
        onSearch={(value) => filters.set('search', value)}
        found={search === null || found === undefined ? null : foundWords(found, keys.hasNextPage)}
      />
      <Answered query={keys} what="keys">
        {({ pages }) => {
          const all = pages.flatMap((page) => page.keys)
          const revoked = all.filter(({ status }) => status === 'revoked').length
          const shown = all.filter(({ status }) => showsRevoked || status !== 'revoked')
          return (
            <>
              {shown.length === 0 && !keys.hasNextPage && (
                <NoKey isNarrowed={filters.isNarrowed} revoked={revoked} />
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
                  onClick={() => filters.set('revoked', showsRevoked ? '' : 'shown')}
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

function NoKey(shown: { readonly isNarrowed: boolean; readonly revoked: number }) {
  if (!shown.isNarrowed) {
    return (
      <Empty title="No agent has a key yet">
        <p>A key has a wallet, caps in USD and a policy. Its secret goes to the agent.</p>
      </Empty>
    )
  }
  const title = shown.revoked > 0 ? 'Only revoked keys have that name' : 'No key has that name'
  return (
    <Empty title={title}>
      <Link href="/keys">Show all</Link>
    </Empty>
  )
}

/** The cursors with which the pages began. */
function cursorsOf(pages: readonly { readonly next_cursor: string | null }[]) {
  return pages.map((_, index) => pages[index - 1]?.next_cursor ?? null)
}

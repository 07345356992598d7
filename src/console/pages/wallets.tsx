import { Link } from 'wouter-preact'
import { May } from '../members/may.js'
import { useFilters } from '../parts/filters.js'
import { More } from '../parts/more.js'
import { foundWords, NameSearch } from '../parts/name-search.js'
import { Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { useWalletPages } from '../queries.js'
import { CreateWallet } from '../wallets/create-wallet.js'
import { Holdings } from '../wallets/holdings.js'
import { WalletCard } from '../wallets/wallet-card.js'

export function WalletsPage() {
  const filters = useFilters(['search'])
  const search = filters.get('search')
  const wallets = useWalletPages(search)
  const found = wallets.data?.pages.reduce((sum, page) => sum + page.wallets.length, 0)
  return (
    <Page
      title="Wallets"
      actions={
        <May power="enlarge">
          <CreateWallet />
        </May>
      }
    >
      <NameSearch
        value={search ?? ''}
        onSearch={(value) => filters.set('search', value)}
        found={
          search === null || found === undefined ? null : foundWords(found, wallets.hasNextPage)
        }
      />
      <Answered query={wallets} what="wallets">
        {({ pages }) => {
          const all = pages.flatMap((page) => page.wallets)
          if (all.length === 0 && !wallets.hasNextPage) {
            if (!filters.isNarrowed) return <Empty title="No wallet yet" />
            return (
              <Empty title="No wallet has that name">
                <Link href="/wallets">Show all</Link>
              </Empty>
            )
          }
          return (
            <div class="stack">
              <div class="grid">
                {all.map((wallet) => (
                  <WalletCard key={wallet.sub_wallet_id} of={wallet} />
                ))}
              </div>
              <More query={wallets} />
              <Holdings wallets={all} />
            </div>
          )
        }}
      </Answered>
    </Page>
  )
}

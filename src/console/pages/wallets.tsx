import { May } from '../members/may.js'
import { More } from '../parts/more.js'
import { Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { useWalletPages } from '../queries.js'
import { CreateWallet } from '../wallets/create-wallet.js'
import { Holdings } from '../wallets/holdings.js'
import { WalletCard } from '../wallets/wallet-card.js'

export function WalletsPage() {
  const wallets = useWalletPages()
  return (
    <Page
      title="Wallets"
      actions={
        <May power="enlarge">
          <CreateWallet />
        </May>
      }
    >
      <Answered query={wallets} what="wallets">
        {({ pages }) => {
          const all = pages.flatMap((page) => page.wallets)
          if (all.length === 0) return <Empty title="No wallet yet" />
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

import { May } from '../members/may.js'
import { Page } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { useWallets } from '../queries.js'
import { CreateWallet } from '../wallets/create-wallet.js'
import { Holdings } from '../wallets/holdings.js'
import { WalletCard } from '../wallets/wallet-card.js'

export function WalletsPage() {
  const wallets = useWallets()
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
        {({ wallets }) =>
          wallets.length === 0 ? (
            <Empty title="No wallet yet" />
          ) : (
            <div class="stack">
              <div class="grid">
                {wallets.map((wallet) => (
                  <WalletCard key={wallet.sub_wallet_id} of={wallet} />
                ))}
              </div>
              <Holdings wallets={wallets} />
            </div>
          )
        }
      </Answered>
    </Page>
  )
}

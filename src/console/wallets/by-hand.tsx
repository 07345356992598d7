import { Answered, Empty } from '../parts/states.js'
import type { ByHand } from './assets.js'
import { DepositByHand } from './deposit-by-hand.js'
import { SendByHand } from './send-by-hand.js'
import { SwapByHand } from './swap-by-hand.js'
import { useKeyWallet } from './use-key-wallet.js'

export function ByHandForms(shown: ByHand & { readonly walletId: string }) {
  const { secret, chainId, walletId } = shown
  const own = useKeyWallet(secret)
  return (
    <Answered query={own} what="the key">
      {({ sub_wallet_id }) =>
        sub_wallet_id === walletId ? (
          <div class="grid" key={`${chainId}`}>
            <SendByHand {...shown} />
            <SwapByHand {...shown} />
            <DepositByHand {...shown} />
          </div>
        ) : (
          <Empty title="This key belongs to another wallet">
            <p>Choose its wallet, or enter a key of this one.</p>
          </Empty>
        )
      }
    </Answered>
  )
}

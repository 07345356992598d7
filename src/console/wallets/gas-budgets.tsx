import { useQuery } from '@tanstack/preact-query'
import { call } from '../api.js'
import { CapBar } from '../parts/cap-bar.js'
import { usdMicros } from '../parts/money.js'
import { Answered } from '../parts/states.js'
import { At } from '../parts/times.js'

const PATH = '/api/v1/agent/wallets/:sub_wallet_id/gas'

/** Receipts change the use without an event of their own. */
const POLL_MS = 30_000

/** The gas that the service pays today: for one wallet, and for all wallets of the account. */
export function GasBudgets({ walletId }: { readonly walletId: string }) {
  const gas = useQuery({
    queryKey: [PATH, walletId],
    queryFn: () => call('GET', PATH, { sub_wallet_id: walletId }),
    refetchInterval: POLL_MS,
  })
  return (
    <Answered query={gas} what="gas budgets">
      {(budgets) => (
        <>
          <div class="caps">
            <CapBar
              label="This wallet"
              usedMicros={usdMicros(budgets.daily_used_usd) ?? 0n}
              cap={budgets.daily_limit_usd}
            />
            <CapBar
              label="All wallets"
              usedMicros={usdMicros(budgets.user_daily_used_usd) ?? 0n}
              cap={budgets.user_daily_limit_usd}
            />
          </div>
          <p class="small mute">
            The service pays the gas of swaps, deposits and withdrawals. When a budget is used up,
            these calls are refused until <At at={budgets.resets_at} />; sends pay their own gas and
            go on.
          </p>
        </>
      )}
    </Answered>
  )
}

import { Link } from 'wouter-preact'
import { SpendBars } from '../keys/key-card.js'
import { formatUsd } from '../parts/money.js'
import { More } from '../parts/more.js'
import { Card } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { Left } from '../parts/times.js'
import { useSpendByShare, useSpendTotals } from '../queries.js'

/** The total spend of all keys, and the keys nearest to a cap. */
export function SpendCard() {
  const totals = useSpendTotals()
  const spenders = useSpendByShare()
  return (
    <Card title="Spend against caps" actions={<Link href="/keys">All keys</Link>}>
      <Answered query={totals} what="spend">
        {({ daily_used_usd, monthly_used_usd, reserved_usd, keys_in_force, ...rest }) => (
          <>
            <dl class="totals">
              <Total title="Today" usd={daily_used_usd} />
              <Total title="This month" usd={monthly_used_usd} />
              <Total title="Reserved" usd={reserved_usd} />
            </dl>
            <p class="small mute">
              {keys_in_force > 1 && `Of ${keys_in_force} keys, those nearest to a cap come first. `}
              Daily caps reset in <Left until={rest.daily_resets_at} />.
            </p>
            {rest.unread_wallets > 0 && (
              <p class="small" role="alert">
                The records of {rest.unread_wallets} wallets are damaged, so their spend is missing
                here.
              </p>
            )}
          </>
        )}
      </Answered>
      <Answered query={spenders} what="keys">
        {({ pages }) => {
          const rows = pages.flatMap(({ keys }) => keys)
          // A key may have moved between two reads, and appear on two pages.
          const byId = new Map(rows.map((one) => [one.lineage_id, one]))
          if (byId.size === 0) return <Empty title="No key is in force" />
          return (
            <>
              <ul class="spenders">
                {[...byId.values()].map((one) => (
                  <li key={one.lineage_id}>
                    <strong>{one.name}</strong>
                    <SpendBars spend={one} />
                  </li>
                ))}
              </ul>
              <More query={spenders} words="Show more keys" />
            </>
          )
        }}
      </Answered>
    </Card>
  )
}

function Total({ title, usd }: { readonly title: string; readonly usd: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{formatUsd(usd)}</dd>
    </div>
  )
}

import { useQuery } from '@tanstack/preact-query'
import { Link } from 'wouter-preact'
import { call } from '../api.js'
import { chainName } from '../parts/chain-names.js'
import { Card } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'

const PATH = '/api/v1/agent/service'

/** The state of each gas wallet, which pays the gas of swaps and deposits. */
export function GasWalletsCard() {
  const status = useQuery({ queryKey: [PATH], queryFn: () => call('GET', PATH, {}) })
  return (
    <Card title="Gas wallets" actions={<Link href="/operations">Balances</Link>}>
      <Answered query={status} what="gas wallets">
        {({ gas_wallets: wallets }) =>
          wallets.length === 0 ? (
            <Empty title="No gas wallets" />
          ) : (
            <ul class="chips">
              {wallets.map(({ gas_wallet, chain_id, balance_wei, low }) => (
                <li key={gas_wallet}>
                  <StatusPill
                    status={`${chainName(chain_id)}: ${stateOf(balance_wei, low)}`}
                    tone={balance_wei === null ? 'plain' : low ? 'bad' : 'ok'}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Card>
  )
}

function stateOf(balanceWei: string | null, isLow: boolean): string {
  if (balanceWei === null) return 'not read yet'
  return isLow ? 'low' : 'enough'
}

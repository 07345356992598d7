import { useQuery } from '@tanstack/preact-query'
import { chainFacts } from '../../domain/chains.js'
import { call, type Output } from '../api.js'
import { chainName } from '../parts/chain-names.js'
import { Id } from '../parts/copy-button.js'
import { Fact } from '../parts/facts.js'
import { formatUnits } from '../parts/money.js'
import { Card } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { Table } from '../parts/table.js'
import { Ago } from '../parts/times.js'
import { describeQueue, formatBytes, formatSeconds } from './figures.js'

const PATH = '/api/v1/agent/service'
type Status = Output<'GET', typeof PATH>
type GasWallet = Status['gas_wallets'][number]
const NATIVE_DECIMALS = 18

/** The state of the service beyond its health: lanes, gas, queues, disk, backup. */
export function ServiceCards() {
  const status = useQuery({ queryKey: [PATH], queryFn: () => call('GET', PATH, {}) })
  return (
    <Answered query={status} what="figures">
      {(figures) => (
        <>
          <LanesCard of={figures.chains} />
          <GasCard of={figures.gas_wallets} />
          <QueuesCard of={figures} />
          <InstanceCard of={figures} />
        </>
      )}
    </Answered>
  )
}

function LanesCard({ of: chains }: { readonly of: Status['chains'] }) {
  const open = chains.filter(({ open_transactions }) => open_transactions > 0)
  return (
    <Card title="Open lanes">
      <p class="small mute">Transactions of all users that are signed but not final.</p>
      {open.length === 0 ? (
        <Empty title="No transaction is open on any chain" />
      ) : (
        <Table<Status['chains'][number]>
          caption="Open lanes"
          rows={open}
          keyOf={({ chain_id }) => String(chain_id)}
          columns={[
            { title: 'Chain', cell: ({ chain_id }) => chainName(chain_id) },
            { title: 'Lanes', cell: ({ open_lanes }) => open_lanes, align: 'end' },
            {
              title: 'Transactions',
              cell: ({ open_transactions }) => open_transactions,
              align: 'end',
            },
            {
              title: 'Oldest',
              cell: ({ oldest_unconfirmed_seconds: seconds }) =>
                seconds === null ? 'none' : formatSeconds(seconds),
              align: 'end',
            },
          ]}
        />
      )}
    </Card>
  )
}

function GasCard({ of: wallets }: { readonly of: readonly GasWallet[] }) {
  const coins = (wei: string | null, chainId: number) =>
    wei === null
      ? 'not read yet'
      : `${formatUnits(wei, NATIVE_DECIMALS)} ${chainFacts(chainId)?.nativeSymbol ?? ''}`
  return (
    <Card title="Gas wallets">
      <p class="small mute">
        They pay the gas of swaps and deposits. A balance is low if it covers fewer than 200 of them
        at current prices.
      </p>
      {wallets.length === 0 ? (
        <Empty title="No gas wallets" />
      ) : (
        <Table<GasWallet>
          caption="Gas wallets"
          rows={wallets}
          keyOf={({ gas_wallet }) => gas_wallet}
          columns={[
            { title: 'Chain', cell: ({ chain_id }) => chainName(chain_id) },
            {
              title: 'Address',
              cell: ({ address }) => <Id value={address} label={`Copy ${address}`} />,
            },
            {
              title: 'Has',
              cell: ({ balance_wei, chain_id }) => coins(balance_wei, chain_id),
              align: 'end',
            },
            {
              title: 'Low below',
              cell: ({ low_below_wei, chain_id }) => coins(low_below_wei, chain_id),
              align: 'end',
            },
            {
              title: 'State',
              cell: ({ low, balance_wei }) =>
                balance_wei !== null && (
                  <StatusPill status={low ? 'low' : 'enough'} tone={low ? 'bad' : 'ok'} />
                ),
            },
          ]}
        />
      )}
    </Card>
  )
}

function QueuesCard({ of: { queues, writes, webhooks } }: { readonly of: Status }) {
  return (
    <Card title="Queues">
      <div class="stack">
        <Table<Status['queues'][number]>
          caption="Queues"
          rows={queues}
          keyOf={({ queue }) => queue}
          columns={[
            { title: 'What waits', cell: ({ queue }) => describeQueue(queue) },
            { title: 'How many', cell: ({ length }) => length, align: 'end' },
            { title: 'For, lately', cell: ({ wait_ms }) => `${wait_ms} ms`, align: 'end' },
            { title: 'Turned away', cell: ({ dropped }) => dropped, align: 'end' },
          ]}
        />
        <dl class="facts">
          <Fact title="Sends at work">
            {writes.active} of {writes.active_max} at most; {writes.waiting} waiting,{' '}
            {writes.refused} refused since the start
          </Fact>
          <Fact title="Events for webhooks">
            {webhooks.waiting_events === 0
              ? 'none waiting'
              : `${webhooks.waiting_events} waiting, the oldest for ${formatSeconds(webhooks.oldest_seconds ?? 0)}`}
          </Fact>
        </dl>
      </div>
    </Card>
  )
}

function InstanceCard({ of: { disk, last_backup: backup, log_level } }: { readonly of: Status }) {
  return (
    <Card title="Instance">
      <dl class="facts">
        <Fact title="Free disk">
          {disk.free_bytes === null ? 'cannot be read' : formatBytes(disk.free_bytes)}; writes stop
          below {formatBytes(disk.floor_bytes)}
        </Fact>
        <Fact title="Last backup">
          {backup === null ? (
            'no backup is known on this machine'
          ) : (
            <>
              <StatusPill status={backup.result} tone={backup.result === 'whole' ? 'ok' : 'bad'} />{' '}
              <Ago at={backup.ended_at} />
              {backup.bytes !== null && `, ${formatBytes(backup.bytes)}`}
            </>
          )}
        </Fact>
        <Fact title="Log level">{log_level}</Fact>
      </dl>
    </Card>
  )
}

import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useSearchParams } from 'wouter-preact'
import { call, type Output } from '../api.js'
import { CHAIN_IDS, chainName } from '../parts/chain-names.js'
import { ChainOptions } from '../parts/chain-options.js'
import { Id } from '../parts/copy-button.js'
import { KeySecret } from '../parts/key-secret.js'
import { formatUnits, formatUsd } from '../parts/money.js'
import { Card } from '../parts/page.js'
import { Answered } from '../parts/states.js'
import { Table } from '../parts/table.js'
import { Allowances } from './allowances.js'
import { assetsOf, isRead, type ListedAsset, NATIVE } from './assets.js'
import { ByHandForms } from './by-hand.js'
import { GasBudgets } from './gas-budgets.js'
import { Positions } from './positions.js'
import { useKeyWallet } from './use-key-wallet.js'

type Wallet = Output<'GET', '/api/v1/agent/wallets'>['wallets'][number]

/** Polls the chain's node, because payments by others have no events here. */
const POLL_MS = 30_000
const FIRST_CHAIN = 8453

/** The holdings of one wallet on one chain, and actions by hand: `?wallet=`, `?chain=`. */
export function Holdings({ wallets }: { readonly wallets: readonly Wallet[] }) {
  const [query, setQuery] = useSearchParams()
  const [secret, setSecret] = useState<string | null>(null)
  const wallet =
    wallets.find(({ sub_wallet_id }) => sub_wallet_id === query.get('wallet')) ?? wallets[0]
  const chainId = CHAIN_IDS.find((id) => String(id) === query.get('chain')) ?? FIRST_CHAIN
  const walletId = wallet?.sub_wallet_id ?? ''
  const keyWallet = useKeyWallet(secret)
  // A key of another wallet would act on that wallet instead.
  const ownSecret = keyWallet.data?.sub_wallet_id === walletId ? secret : null
  const balances = useQuery({
    queryKey: ['/api/v1/agent/wallets/:sub_wallet_id/balances', walletId, chainId],
    queryFn: () =>
      call('GET', '/api/v1/agent/wallets/:sub_wallet_id/balances', {
        ...{ sub_wallet_id: walletId, chain_id: chainId },
      }),
    enabled: wallet !== undefined,
    refetchInterval: POLL_MS,
  })
  if (wallet === undefined) return null
  const change = (name: string, value: string) =>
    setQuery((before) => {
      const next = new URLSearchParams(before)
      next.set(name, value)
      return next
    })
  return (
    <>
      <fieldset class="filters">
        <legend class="hidden">What is shown below</legend>
        <label>
          Wallet
          <select
            value={walletId}
            onChange={({ currentTarget }) => change('wallet', currentTarget.value)}
          >
            {wallets.map(({ sub_wallet_id, name }) => (
              <option key={sub_wallet_id} value={sub_wallet_id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Chain
          <select
            value={chainId}
            onChange={({ currentTarget }) => change('chain', currentTarget.value)}
          >
            <ChainOptions />
          </select>
        </label>
      </fieldset>
      <div class="grid">
        <Card title={`Balances on ${chainName(chainId)}`}>
          <Answered query={balances} what="balances">
            {(answer) => <Balances of={assetsOf(answer)} />}
          </Answered>
        </Card>
        <Card title="Positions">
          <Positions walletId={walletId} secret={ownSecret} />
        </Card>
        <Card title="Gas that the service pays today">
          <GasBudgets walletId={walletId} />
        </Card>
      </div>
      <Card title={`Allowances on ${chainName(chainId)}`}>
        <Allowances
          {...{ walletId, chainId }}
          secret={ownSecret}
          assets={balances.data === undefined ? null : assetsOf(balances.data)}
        />
      </Card>
      {secret === null ? (
        <Card title="By hand">
          <KeySecret onGiven={setSecret}>
            Only a live API key can move money. To send, swap, deposit or revoke, enter the secret
            of a trade key of this wallet.
          </KeySecret>
        </Card>
      ) : (
        <>
          <div class="actions">
            <h2>By hand, on {chainName(chainId)}</h2>
            <button type="button" onClick={() => setSecret(null)}>
              Forget the key
            </button>
          </div>
          {balances.data !== undefined && (
            <ByHandForms
              key={`${walletId} ${chainId}`}
              walletId={walletId}
              secret={secret}
              chainId={chainId}
              assets={assetsOf(balances.data).filter(isRead)}
            />
          )}
        </>
      )}
    </>
  )
}

function Balances({ of: assets }: { readonly of: readonly ListedAsset[] }) {
  return (
    <Table
      caption="Balances"
      rows={assets}
      keyOf={({ token }) => token}
      columns={[
        { title: 'Token', cell: ({ symbol }) => <strong>{symbol}</strong> },
        {
          title: 'Contract',
          cell: ({ token }) =>
            token === NATIVE ? 'native' : <Id value={token} label="Copy the contract" />,
        },
        {
          title: 'Balance',
          cell: ({ balance, decimals }) =>
            balance === null ? 'not available now' : formatUnits(balance, decimals),
          align: 'end',
        },
        {
          title: 'Value',
          cell: ({ usdValue }) => (usdValue === null ? '' : formatUsd(usdValue)),
          align: 'end',
        },
      ]}
    />
  )
}

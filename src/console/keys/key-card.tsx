import { Link } from 'wouter-preact'
import { CapBar } from '../parts/cap-bar.js'
import { CHAIN_IDS, chainName } from '../parts/chain-names.js'
import { Id } from '../parts/copy-button.js'
import { usdMicros } from '../parts/money.js'
import { StatusPill } from '../parts/status-pill.js'
import { Ago, Left } from '../parts/times.js'
import type { Spend } from '../queries.js'
import type { Key } from './key.js'
import { KeyActions } from './key-actions.js'
import { KeySparkline } from './key-sparkline.js'

/** One key: its name, cap usage, permissions and actions. */
export function KeyCard(shown: {
  readonly of: Key
  readonly walletName: string
  /** Null until it is known. */
  readonly spend: Spend | null
}) {
  const { of: key, walletName, spend } = shown
  return (
    <section class="card key-card" aria-label={key.name}>
      <header class="card-head">
        <h2>{key.name}</h2>
        <span class="actions">
          <StatusPill status={key.permission} tone="plain" />
          <StatusPill status={key.frozen === null ? key.status : 'frozen'} />
        </span>
      </header>
      {key.status !== 'revoked' && spend !== null && <SpendBars spend={spend} />}
      {key.status !== 'revoked' && <KeySparkline keyId={key.key_id} />}
      <dl class="facts">
        <dt>Wallet</dt>
        <dd>{walletName}</dd>
        <dt>Key</dt>
        <dd>
          <code>{key.secret_prefix}…</code> <Id value={key.key_id} label="Copy the key's id" />
        </dd>
        <dt>Chains</dt>
        <dd>{describeChains(key.allowed_chains)}</dd>
        <dt>Policy</dt>
        <dd>{describePolicy(key)}</dd>
        <dt>Last used</dt>
        <dd>
          <Ago at={key.last_used_at} />,{' '}
          <Link href={`/transactions?key_id=${encodeURIComponent(key.key_id)}`}>what it sent</Link>
        </dd>
        {key.status === 'rotated_out' && key.expires_at !== null && (
          <>
            <dt>Ends in</dt>
            <dd>
              <Left until={key.expires_at} />
            </dd>
          </>
        )}
        {key.frozen !== null && (
          <>
            <dt>Frozen</dt>
            <dd>
              <Ago at={key.frozen.since} />, by the {key.frozen.by}
              {key.frozen.reason !== null && `: ${key.frozen.reason}`}
            </dd>
          </>
        )}
      </dl>
      <KeyActions of={key} />
    </section>
  )
}

export function SpendBars({ spend }: { readonly spend: Spend }) {
  return (
    <div class="caps">
      <CapBar
        label="Today"
        usedMicros={usdMicros(spend.daily_used_usd) ?? 0n}
        cap={spend.daily_limit_usd}
      />
      <CapBar
        label="This month"
        usedMicros={usdMicros(spend.monthly_used_usd) ?? 0n}
        cap={spend.monthly_limit_usd}
      />
    </div>
  )
}

function describeChains(chains: readonly number[]): string {
  if (chains.length === CHAIN_IDS.length) return `All ${CHAIN_IDS.length}`
  return chains.length === 0 ? 'None' : chains.map(chainName).join(', ')
}

const DEFAULTS: Readonly<Record<string, string>> = {
  allow: 'otherwise allowed',
  deny: 'otherwise refused',
  require_approval: 'otherwise you are asked',
}
const EFFECTS: Readonly<Record<string, string>> = {
  allow: 'allows',
  deny: 'refuses',
  require_approval: 'asks',
}

function describePolicy({ policy }: Key): string {
  if (policy === null || typeof policy !== 'object') return 'Any call within the caps'
  const shown: unknown = policy
  const { rules, default: otherwise } = shown as PolicyShown
  const words = rules.map(({ name, effect }) => `${name} ${EFFECTS[effect] ?? effect}`)
  return [...words, DEFAULTS[otherwise] ?? otherwise].join('; ')
}

/** The parts of a policy that are shown; the wire has it in canonical form. */
interface PolicyShown {
  readonly rules: readonly { readonly name: string; readonly effect: string }[]
  readonly default: string
}

import { Link } from 'wouter-preact'
import { Id } from '../parts/copy-button.js'
import { Fact } from '../parts/facts.js'
import { Card } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import { At } from '../parts/times.js'
import type { Detail } from './detail.js'

type Signature = Detail['signatures'][number]

const OF: Readonly<Record<Signature['of'], string>> = {
  transaction: 'The transaction',
  cancellation: 'Its cancellation',
  router_intent: 'The Router intent that the wallet signed',
  delegation: 'The delegation to the Router',
}

/** For everything that was signed: the first key's approval and the quorum signer's signature. */
export function BothKeys({ tx }: { readonly tx: Detail }) {
  const { signatures } = tx
  return (
    <Card title="Both keys" actions={<Link href="/audit">Verify the evidence</Link>}>
      {signatures.length === 0 ? (
        <Empty
          title={tx.status === 'awaiting_approval' ? 'Nothing is signed yet' : 'Nothing was signed'}
        />
      ) : (
        <div class="grid">
          {signatures.map((signature) => (
            <Approvals key={`${signature.of} ${signature.intent_id}`} of={signature} />
          ))}
        </div>
      )}
    </Card>
  )
}

function Approvals({ of: signature }: { readonly of: Signature }) {
  const { identity_provider: first, quorum_signer: second, tx_hash, intent_id } = signature
  return (
    <dl class="facts">
      <Fact title="Signed">
        <strong>{OF[signature.of]}</strong>{' '}
        {tx_hash !== null && <Id value={tx_hash} label="Copy the hash that was signed" />}
      </Fact>
      {first === null ? (
        <Fact title="Identity provider">
          Approved, but the approval is not in this service’s evidence.
        </Fact>
      ) : (
        <>
          <Fact title="Identity provider">
            Approved; recorded <At at={first.recorded_at} />
          </Fact>
          <Fact title="Its signature">
            <Id value={first.signature} label="Copy the identity provider's signature" />
          </Fact>
          <Fact title="Evidence">
            Entry {first.evidence.index} of chain {first.evidence.chain}, log {first.evidence.log}{' '}
            <Id value={first.evidence.hash} label="Copy the entry's hash" />
          </Fact>
        </>
      )}
      <Fact title="Quorum signer">
        Signed{second.signed_at === null ? '.' : <>; verified </>}
        {second.signed_at !== null && <At at={second.signed_at} />}
      </Fact>
      {intent_id !== null && (
        <Fact title="Intent">
          <Id value={intent_id} label="Copy the intent's id" />
        </Fact>
      )}
    </dl>
  )
}

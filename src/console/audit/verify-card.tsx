import { Snippet } from '../parts/copy-button.js'
import { Card } from '../parts/page.js'

const COMMAND =
  'countersign verify-audit --service DIR --identity DIR --registry registry.json --root root.pub.pem'

/** Tells how to verify the evidence: a page of the service that is audited would prove nothing. */
export function VerifyCard() {
  return (
    <Card title="Verify the evidence">
      <div class="stack">
        <p class="small">
          To prove what both keys approved, copy the evidence logs of the service and of the
          identity provider to a machine that you trust, and run this command there with your own
          copy of the registry root’s public key:
        </p>
        <Snippet title="Shell" text={COMMAND} />
      </div>
    </Card>
  )
}

import axe from 'axe-core'
import type { Tab } from '../passkey/browser.js'

/** What keeps somebody out, by the rules of axe: those of serious or critical impact, with the markup. */
export async function seriousFindings(tab: Tab): Promise<unknown> {
  // Not as a script of the page: its policy would block that, and rightly.
  await tab.evaluate(axe.source)
  return tab.evaluate(`axe.run(document).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => [id, help, ...nodes.map(({ html }) => html.slice(0, 200))]))`)
}

import type { ChainAccess } from '../../chains/access.js'
import { isAmong, openRouter, UNENDED } from '../../defi/router-reads.js'
import type { Address } from '../../domain/ids.js'
import { coSignerKeysOf } from '../operator/co-signer-keys.js'
import { concern, type Finding, failure, fine } from './finding.js'

/**
 * Checks that a chain's Router has the co-signers that the registry names: the Router executes no
 * sponsored call of a node whose key it lacks, and an extra key may co-sign although no service
 * owns it.
 * @throws Error when the Router or the registry cannot be read
 */
export async function coSignerFindings(
  { config, rpc }: Pick<ChainAccess, 'config' | 'rpc'>,
  home: string,
): Promise<readonly Finding[]> {
  const { id: chainId, router, delegate } = config
  if (router === null || delegate === null) return []
  const pair = { router: router as Address, delegate: delegate as Address }
  const present = (await openRouter({ chainId, rpc }, pair).coSigners()).filter(
    ({ until }) => until === UNENDED,
  )
  const named = coSignerKeysOf(home, Date.now())
  const wanted = named.filter(({ endsInSeconds }) => endsInSeconds === null)
  const counting = named.filter(({ endsInSeconds }) => endsInSeconds !== 0)
  const subject = `chain ${chainId}: co-signers`
  const missing = wanted.filter((key) => !isAmong(present, key)).length
  const others = present.filter((key) => !isAmong(counting, key)).length
  if (missing > 0) {
    const found = `the Router lacks ${missing} of the registry’s ${wanted.length}`
    return [failure(subject, found, 'countersign contracts configure, as the owner of the Router')]
  }
  return others === 0
    ? [fine(subject, `${present.length}, as the registry says`)]
    : [
        concern(
          subject,
          `the Router has ${others} that the registry ended, or never named`,
          'countersign contracts rotate-cosigner, as the owner of the Router',
        ),
      ]
}

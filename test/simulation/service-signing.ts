import type { Timers } from '../../src/clock/timers.js'
import {
  type SocketClient,
  type SocketClientOptions,
  Unanswered,
} from '../../src/quorum-protocol/client.js'
import { isSignedBy } from '../../src/quorum-protocol/curve.js'
import { codeOf, Refusal } from '../../src/quorum-protocol/refusal.js'
import type { RegistryHolder } from '../../src/quorum-protocol/registry-holder.js'
import type { ServiceStart } from '../../src/quorum-protocol/service-boot.js'
import type { CoSigner, SignOutcome, SignRequest } from '../../src/service-custody/co-signer.js'
import { isStopped } from '../../src/service-custody/freezes.js'
import { createGrantReferences } from '../../src/service-custody/grant-references.js'
import { failed, unavailable } from '../../src/service-custody/outcome.js'
import { linkQuorum } from '../../src/service-custody/quorum-link.js'
import type { SignBatchContext } from '../../src/service-custody/sign-batch.js'
import {
  createIntentSigner,
  type IntentSignerOptions,
} from '../../src/service-custody/sign-intent.js'
import { createSignPipeline } from '../../src/service-custody/sign-pipeline.js'
import { SIGNERS } from './quorum-keys.js'

export interface ServiceSigningPorts {
  readonly registry: RegistryHolder
  readonly shares: IntentSignerOptions['shares'] & SignBatchContext['shares']
  readonly timers: Timers
  readonly start: ServiceStart
  readonly connect: (options: SocketClientOptions) => SocketClient
  /** Resolves once evidence is on disk. */
  readonly flushed: () => Promise<void>
  /** @returns what the service is answered */
  readonly signed: (request: SignRequest, outcome: SignOutcome) => SignOutcome
  /** The user side does not take this start. */
  readonly refused: (message: string) => void
  readonly fenced: () => void
  readonly wrong: (what: string) => void
}

export type ServiceSigning = Pick<CoSigner, 'sign' | 'refuseWaiting'> & {
  readonly userSide: SocketClient
}

/** The service's side of signing, its own code, over pipes. */
export function serviceSigning(ports: ServiceSigningPorts): ServiceSigning {
  const { registry, shares, timers, start, connect, wrong } = ports
  const failedWith = (error: unknown) => wrong(error instanceof Error ? `${error.stack}` : '?')
  const link = linkQuorum({
    ...{ userSide: { path: 'user' }, quorumSocket: 'quorum', registry, timers, connect },
    ...{ signer: SIGNERS.service, ...start },
    log: {
      info: () => undefined,
      warn: () => undefined,
      error: ({ err }: { err: unknown }) => {
        // Over pipes that double and overtake, a greeting may be refused.
        if (!(err instanceof Refusal)) failedWith(err)
        else if (err.code === 'CONFLICT') ports.refused(err.message)
      },
      fatal: () => ports.fenced(),
    },
    approvedFloor: () => pipeline.approvedSeq,
    onLost: () => pipeline.abandon('connection lost'),
  })
  const evidence = { append: ports.flushed }
  const checks = {
    check: async (
      all: readonly { point: Uint8Array; digest: Uint8Array; signature: Uint8Array }[],
    ) => all.map(({ point, digest, signature }) => isSignedBy(point, digest, signature)),
  }
  const pipeline = createSignPipeline({
    timers,
    context: () =>
      link.session === null
        ? null
        : {
            ...{ link, session: link.session, shares, evidence, checks, timers },
            signer: SIGNERS.service,
          },
    onStaleSession: () => link.renew(),
    onFault: failedWith,
  })
  const signed = createIntentSigner({
    shares,
    grants: createGrantReferences(link.userSide),
    pipeline,
  })
  return {
    userSide: link.userSide,
    sign: async (request) => {
      if (link.session === null) return unavailable('quorum incomplete')
      try {
        return ports.signed(request, await signed(request))
      } catch (error) {
        if (error instanceof Unanswered) return unavailable(error.message)
        return failed(error instanceof RangeError ? 'MALFORMED' : codeOf(error))
      }
    },
    refuseWaiting: (subject, { scope, sinceMs }) =>
      pipeline.refuse(isStopped(subject), { ...failed('FROZEN'), frozen: { scope, sinceMs } }),
  }
}

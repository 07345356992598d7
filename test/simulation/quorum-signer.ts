import { expectBytes } from '../../src/quorum-protocol/bytes.js'
import { intentId } from '../../src/quorum-protocol/intent.js'
import {
  type ApprovedBatch,
  QUORUM_SIGNER,
} from '../../src/quorum-protocol/methods/quorum-signer.js'
import { encodeBoot } from '../../src/quorum-protocol/quorum-session.js'
import type { RegistryHolder } from '../../src/quorum-protocol/registry-holder.js'
import { createQuorumSessions, type QuorumSessions } from '../../src/quorum-signer/sessions.js'
import { signBatch } from '../../src/quorum-signer/sign-batch.js'
import { SIGNERS } from './quorum-keys.js'
import type { UserSide } from './user-side.js'

/** The quorum signer's own code, held to what the user side's evidence has. */
export class QuorumSigner {
  readonly #registry: RegistryHolder
  readonly #userSide: UserSide
  readonly #wrong: (what: string) => void
  #sessions: Promise<QuorumSessions> = createQuorumSessions(SIGNERS.quorum)

  constructor(registry: RegistryHolder, userSide: UserSide, wrong: (what: string) => void) {
    this.#registry = registry
    this.#userSide = userSide
    this.#wrong = wrong
  }

  restart(): void {
    this.#sessions = createQuorumSessions(SIGNERS.quorum)
  }

  /** @param nowMs by the clock of its machine */
  async serve(method: string, parameters: readonly unknown[], nowMs: number): Promise<unknown> {
    const sessions = await this.#sessions
    const registry = this.#registry.current
    switch (method) {
      case 'boot':
        return encodeBoot(sessions.boot)
      case 'registry':
        return registry.version
      case 'session':
        return sessions.accept(expectBytes(parameters[0]), registry, nowMs)
      case 'sign': {
        const batch = QUORUM_SIGNER.sign.parameters.decode(parameters)
        return this.#proved(batch, signBatch(batch, sessions, registry, nowMs))
      }
      default:
        throw new Error(`the quorum signer has no ${method}`)
    }
  }

  /** Each signature is of something that the user side will always know that it approved. */
  #proved({ intents }: ApprovedBatch, answers: readonly (Buffer | number)[]) {
    for (const [index, encoded] of intents.entries()) {
      if (!(answers[index] instanceof Uint8Array)) continue
      const id = intentId(encoded)
      if (!this.#userSide.hasProved(id)) {
        this.#wrong(`${id.toString('hex').slice(0, 16)} was signed, and no evidence has it`)
      }
    }
    return answers
  }
}

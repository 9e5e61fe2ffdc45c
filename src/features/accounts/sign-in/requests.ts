import Type from 'typebox'
import { CodeField, FlowField, OptionalChallenge, PasswordField, SignInName } from '../requests.ts'

export const Credentials = Type.Object({ username: SignInName, password: PasswordField, challenge: OptionalChallenge })
export const SecondFactor = Type.Object({ code: CodeField, flow: FlowField })

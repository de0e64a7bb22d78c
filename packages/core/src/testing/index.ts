/** A gateway in the process, for tests of programs. */
import "../NodeVersion.ts"
export {
  type GatewayMock,
  type TestCall,
  type TestFault,
  TestGateway,
  type TestGatewayOptions,
  type TestRequest
} from "./TestGateway.ts"

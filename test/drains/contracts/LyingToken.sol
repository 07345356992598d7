// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Says that it moved what it did not, and nothing of what it did; and on the way lets a
/// stranger act inside the call.
contract LyingToken {
    string public constant name = "Lying";
    string public constant symbol = "LIE";
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    /// @dev Money that never comes: inflows must not be set off against what leaves.
    function pretendPayment(address to, uint256 amount) external payable {
        emit Transfer(address(this), to, amount);
    }

    function pretendRefund(address from, address token, address to, uint256 amount) external {
        emit Transfer(to, from, amount);
        (bool success, ) = token.call(
            abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, amount)
        );
        require(success, "pull");
        emit Transfer(to, from, amount);
    }

    /// @dev No event at all.
    function transfer(address to, uint256 amount) external returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}

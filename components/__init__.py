"""What people see: the Space. It imports ecomrlve and is never imported by it."""
